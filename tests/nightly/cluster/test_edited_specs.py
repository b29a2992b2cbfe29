"""The edits of specs and platform that `tests/cluster/test_edited_specs.py` leaves out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.compiler.model import OutputFile
from tests.cluster.control_plane import Cluster
from tests.cluster.test_edited_specs import CHANGES, SOME, applied, assert_predicted


@pytest.fixture(scope="module")
def before(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, OutputFile]]:
    """The outputs by path."""
    yield from applied(cluster, tmp_path_factory.mktemp("before"))


@pytest.mark.parametrize("name", [name for name in CHANGES if name not in SOME.values()])
def test_server_does_what_the_compiler_says(
    cluster: Cluster, before: dict[str, OutputFile], name: str, tmp_path: Path
) -> None:
    assert_predicted(cluster, before, CHANGES[name], tmp_path)
