"""The edits of training jobs that `tests/cluster/test_edited_training.py` leaves out."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.control_plane import Cluster
from tests.cluster.test_edited_training import CELLS, SOME, Apply, applying, assert_renamed


@pytest.fixture(scope="module")
def apply(jobset_cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Apply]:
    """As `applying`."""
    yield from applying(jobset_cluster, tmp_path_factory)


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell not in SOME])
def test_run_is_renamed_where_the_server_would_refuse(apply: Apply, cell: str, tmp_path: Path) -> None:
    assert_renamed(apply, cell, tmp_path)
