"""What each feature compiles to: one small input, one snapshot with every manifest in it.

A case is `cases/<feature>/<case>.yaml`: specs, and as first document a platform where it matters. The snapshot names
the diagnostics by code and field, then holds the manifests, each below its path. The CRDs are left out: they are
committed in `schema/crds`. So is the reporter, which is the same in all of them, save in its own cases.
"""

from collections.abc import Iterator

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from stowplan.compiler.yaml.emitter import emit
from stowplan.library.builders.reporter import FOLDER
from tests.repositories import CASES, Result, case


class Manifests(SingleFileSnapshotExtension):
    """One YAML file for each case."""

    _write_mode = WriteMode.TEXT
    file_extension = "yaml"


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
