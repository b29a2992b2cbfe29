"""What each feature compiles to: one small input, one snapshot with every manifest in it.

A case is `cases/<feature>/<case>.yaml`: specs, and as first document a platform where it matters. The snapshot
`<case>.out.yaml` names the diagnostics by code and field, then holds the manifests, each below its path. The CRDs are
left out: they are committed in `schema/crds`. So is the reporter, which is the same in all cases but its own.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from stowplan.compiler.yaml.emitter import emit
from stowplan.library.delivery.reporter import FOLDER
from tests.beside_case import BesideCase
from tests.repositories import CASES, Result, case


class Manifests(BesideCase):
    """`cases/<feature>/<case>.out.yaml`."""

    file_extension = "out.yaml"

    @staticmethod
    def snapshot(case: str) -> Path:
        return CASES[case].with_suffix(".out.yaml")


@pytest.mark.parametrize("name", CASES)
def test_compiles(name: str, snapshot: SnapshotAssertion) -> None:
    result = case(name)
    assert result.errors == []
    reporter = name.startswith("reporter-")
    assert "".join(_stream(result, reporter=reporter)) == snapshot(extension_class=Manifests)


def _stream(result: Result, *, reporter: bool) -> Iterator[str]:
    for found in result.diagnostics:
        yield f"# {found.severity} {found.code}: {found.field_path or 'the document'}\n"
    for output in result.outputs:
        if not output.path.startswith("crds/") and (reporter or f"/{FOLDER}/" not in output.path):
            yield f"---\n# path: {output.path}\n{emit(output.manifest.body)}"
