"""The stories have nodes of their own. Other tests may run on two more nodes at the same time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nightly.node.place import Place, running


@pytest.fixture(scope="module")
def place(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A control plane and two nodes, while the tests of one file run: the first place, whose addresses 0.1.0 knew."""
    with running(programs, tmp_path_factory.mktemp("place"), 0) as made:
        yield made
