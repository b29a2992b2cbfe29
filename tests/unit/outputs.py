"""Outputs and output folders for tests. Each test gives only the values that matter to it."""

import json
import shutil
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import OutputFile
from stowplan.compiler.output import inventory, inventory_files
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_lines import Entry, to_line
from stowplan.compiler.output.render import Rendered, Renderings
from stowplan.compiler.output.write import WriteResult, write
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values.labels import spec_selector
from stowplan.schema.meta import SpecId

SPEC = SpecId("SampleSet", "ml", "imagenet")
INVENTORY = "_inventory/ml/sampleset-imagenet.jsonl"
"""The file with the entries of the spec, in the output folder."""


def config_map(name: str, value: str = "1") -> Json:
    meta = {"name": name, "namespace": "ml"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"value": value}}


def job(name: str, value: str = "1") -> Json:
    meta = {"name": name, "namespace": "ml"}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"value": value}}


def output(
    path: str,
    body: Json | None = None,
    *,
    spec: SpecId | None = SPEC,
    digest: str = "d1",
    run: bool = False,
    source: str = "specs/a.yaml",
) -> OutputFile:
    name = path.rpartition("/")[2].removesuffix(".yaml")
    body = body or config_map(name)
    if run and spec:
        body = {**body, "metadata": {**body["metadata"], "labels": spec_selector(spec)}}
    manifest = Manifest(body, name, run=run)
    return OutputFile(path, manifest, spec, source, digest)


def written(out: Path, outputs: Iterable[OutputFile]) -> tuple[WriteResult, list[str]]:
    """Write with the present inventory, and return the result and the reported codes."""
    report = Report()
    result = write(rendered(outputs), out, inventory.read(out)[0], report)
    return result, [found.code for found in report.diagnostics]


def rendered(outputs: Iterable[OutputFile]) -> list[Rendered]:
    """The files of outputs, with their contents."""
    return Renderings().all(outputs, OutputFolder(Path()))


def last_inventory(out: Path) -> Inventory:
    found, problems = inventory.read(out)
    assert problems == []
    return found


def in_one_file(out: Path) -> Path:
    """Give an output the inventory of version 0.1.0, which is one file, and return this file."""
    found = [path.read_text().splitlines() for path in (out / "_inventory").rglob("*.jsonl")]
    assert found, "it has one already, or none"
    lines = sorted((line for _, *own in found for line in own), key=lambda line: str(json.loads(line)["path"]))
    shutil.rmtree(out / "_inventory")
    (out / inventory_files.OLD).write_text("".join(f"{line}\n" for line in (found[0][0], *lines)))
    return out / inventory_files.OLD


def list_files(out: Path, entries: Iterable[Entry]) -> None:
    """Give an output an inventory with these entries."""
    shutil.rmtree(out / "_inventory", ignore_errors=True)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for each in sorted(entries, key=lambda each: each.path):
        found[inventory_files.home(each.path, each.spec)].append(to_line(each))
    for path, lines in found.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(inventory.of_lines(lines))


def files(out: Path) -> dict[str, bytes]:
    """Return every file below `out`, including hidden ones, without following links."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def folders(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_dir()}
