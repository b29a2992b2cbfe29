"""The valid cases, migrated to native kinds."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.migrate.native import files
from stowplan.compiler.migrate.native.kinds.registry import PLANS
from stowplan.compiler.yaml import comments
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.parse_model import read
from tests.repositories import CASES, lay_out, validated

LEGACY = [name for name, path in CASES.items() if any(f"kind: {kind}\n" in path.read_text() for kind in PLANS)]
"""Cases with a spec of a legacy kind."""


def migrated(file: Path) -> tuple[str, Report]:
    """The content of a file of specs in a repository after `stowplan migrate --to native`, and what is said."""
    text, report = file.read_text(), Report()
    changed = files.migrated({file.as_posix(): text}, report)
    assert not report.failed, report.diagnostics
    return changed.get(file.as_posix(), text), report


@pytest.mark.parametrize("name", LEGACY)
def test_a_migrated_case_is_valid_and_has_all_comments_and_keeps_every_volume(name: str, tmp_path: Path) -> None:
    lay_out(tmp_path, {"case.yaml": CASES[name].read_text()})
    file = tmp_path / "specs/case.yaml"
    before, (after, said) = file.read_text(), migrated(file)
    if after == before:
        assert said.diagnostics, "why nothing is migrated"
        return
    kept = volumes(tmp_path)
    assert comments.words(after) == comments.words(before)
    for document in yaml.safe_load_all(after):
        if document and document["apiVersion"] == "stowplan.dev/v1alpha1" and document["kind"] in KINDS:
            assert read(KINDS[document["kind"]].model, document)[1] == []
    file.write_text(after)
    assert migrated(file)[0] == after
    assert volumes(tmp_path) == kept


def volumes(repo: Path) -> dict[tuple[str, str, str], Any]:
    """The specs of the volumes and claims that a repository compiles to, by kind, namespace and name."""
    report = Report()
    outputs = validated(repo, report).outputs
    assert not report.failed, report.diagnostics
    kinds = ("PersistentVolume", "PersistentVolumeClaim")
    bodies = [each.manifest.body for each in outputs if each.manifest.kind in kinds]
    return {
        (body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]): body["spec"] for body in bodies
    }
