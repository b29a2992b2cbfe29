"""Outputs and output folders for tests. Each test gives only the values that matter to it."""

from collections.abc import Iterable
from pathlib import Path

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.model import Output
from stowplan.compiler.output import inventory
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.render import Rendered, Renderings
from stowplan.compiler.output.write import WriteResult, write
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values.labels import spec_selector
from stowplan.schema.meta import SpecId

SPEC = SpecId("SampleSet", "ml", "imagenet")


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
) -> Output:
    name = path.rpartition("/")[2].removesuffix(".yaml")
    body = body or config_map(name)
    if run and spec:
        body = {**body, "metadata": {**body["metadata"], "labels": spec_selector(spec)}}
    manifest = Manifest(body, name, run=run)
    return Output(path, manifest, spec, source, digest)


def written(out: Path, outputs: Iterable[Output]) -> tuple[WriteResult, list[str]]:
    """Write with the present inventory, and return the result and the reported codes."""
    report = Report()
    result = write(rendered(outputs), out, inventory.read(out)[0], report)
    return result, [found.code for found in report.diagnostics]


def rendered(outputs: Iterable[Output]) -> list[Rendered]:
    """The files of outputs, with their contents."""
    return Renderings().all(outputs, OutputFolder(Path()))


def last_inventory(out: Path) -> Inventory:
    found, problems = inventory.read(out)
    assert problems == []
    return found


def files(out: Path) -> dict[str, bytes]:
    """Return every file below `out`, including hidden ones, without following links."""
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def folders(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_dir()}
