"""What each feature compiles to: one small input, one snapshot with every manifest in it, which keeps all rules.

A case is `cases/<feature>/<case>.yaml`: specs, and as first document a platform where it matters. The snapshot
`<case>.out.yaml` names the diagnostics by code and field, then holds the manifests, each below its path. The CRDs are
left out: they are committed in `schema/crds`. So is the reporter, which is the same in all cases but its own.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from syrupy.assertion import SnapshotAssertion

from stowplan.compiler.committed.vouching import RUN_KINDS
from stowplan.compiler.output.render import render
from stowplan.compiler.yaml.emitter import emit
from stowplan.library.delivery.reporter import FOLDER
from tests.beside_case import BesideCase
from tests.invariants import broken
from tests.repositories import CASES, Result, case, compiled

ODD_STRINGS = ["data-cube-patterns", "mount-options-zero-and-false", "training-job-old-spellings"]
"""Cases that a reader of YAML 1.2 reads too; `tests/unit/compiler/yaml/test_emitter.py` has any strings."""


class Manifests(BesideCase):
    """`cases/<feature>/<case>.out.yaml`."""

    file_extension = "out.yaml"

    @staticmethod
    def snapshot(case: str) -> Path:
        return CASES[case].with_suffix(".out.yaml")


@pytest.mark.parametrize("name", CASES)
def test_compiles(name: str, snapshot: SnapshotAssertion) -> None:
    result = case(name)
    reporter = name.startswith("reporter-")
    assert "".join(_stream(result, reporter=reporter)) == snapshot(extension_class=Manifests)


@pytest.mark.parametrize("name", CASES)
def test_keeps_every_rule(name: str) -> None:
    assert broken(name, case(name)) == []


@pytest.mark.parametrize("name", ODD_STRINGS)
def test_a_reader_of_yaml_1_2_sees_the_same(name: str) -> None:
    for output in case(name).outputs:
        assert YAML(typ="safe", pure=True).load(io.BytesIO(render(output))) == output.manifest.body, output.path


def test_every_kind_that_may_be_kept_is_part_of_some_run() -> None:
    runs = [output.id for name in CASES for output in case(name).outputs if output.manifest.run]
    assert {(known.group, known.kind) for known in runs} == RUN_KINDS


def test_the_project_stays_when_the_last_spec_of_a_kind_goes(tmp_path: Path) -> None:
    """Argo CD would orphan the objects of a kind that leaves the list, instead of pruning them."""
    platform = CASES["platform-argocd"].read_text().partition("\n---\n")[0]
    without, whole = compiled(tmp_path, {"empty.yaml": f"{platform}\n---\n"}), case("platform-argocd")
    assert {output.manifest.kind for output in without.outputs} < {output.manifest.kind for output in whole.outputs}
    assert _project(without) == _project(whole)


def _project(result: Result) -> dict[str, Any]:
    return next(output.manifest.body for output in result.outputs if output.manifest.kind == "AppProject")


def _stream(result: Result, *, reporter: bool) -> Iterator[str]:
    for found in result.diagnostics:
        yield f"# {found.severity} {found.code}: {found.field_path or 'the document'}\n"
    for output in result.outputs:
        if not output.path.startswith("crds/") and (reporter or f"/{FOLDER}/" not in output.path):
            yield f"---\n# path: {output.path}\n{emit(output.manifest.body)}"
