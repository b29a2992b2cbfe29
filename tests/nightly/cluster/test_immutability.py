"""The cells of the compiler's table of immutable fields that `tests/cluster/test_immutability.py` leaves out."""

from collections.abc import Iterator

import pytest

from stowplan.schema.meta import ObjectId
from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster
from tests.cluster.shared import parameters
from tests.cluster.test_immutability import (
    ALL,
    BUILT_IN,
    OF_ENGINES,
    Cell,
    assert_agree,
    live_engine_rows,
    live_rows,
    some,
)


def others(found: dict[str, Cell]) -> dict[str, Cell]:
    return {name: cell for name, cell in found.items() if name not in some(found)}


@pytest.fixture(scope="module")
def live(cluster: Cluster) -> Iterator[dict[ObjectId, Manifest]]:
    """The objects that Kubernetes knows itself."""
    yield from live_rows(cluster, BUILT_IN)


@pytest.fixture(scope="module")
def live_of_engines(jobset_cluster: Cluster) -> Iterator[dict[ObjectId, Manifest]]:
    """Those of engines."""
    yield from live_engine_rows(jobset_cluster)


@pytest.mark.parametrize("cell", parameters(others(ALL), "cells"))
def test_table_and_server_agree(cluster: Cluster, live: dict[ObjectId, Manifest], cell: Cell) -> None:
    assert_agree(cluster, live, cell)


@pytest.mark.parametrize("cell", parameters(others(OF_ENGINES), "cells"))
def test_table_and_engines_agree(
    jobset_cluster: Cluster, live_of_engines: dict[ObjectId, Manifest], cell: Cell
) -> None:
    assert_agree(jobset_cluster, live_of_engines, cell)
