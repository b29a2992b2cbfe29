"""The place as a fixture: one for each file of tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.absent import skip
from tests.cluster.fixtures import programs_of
from tests.nightly.node.place import TOOLS, Place, obstacle, running


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """What runs in the place; skips with the reason where it cannot run."""
    if reason := obstacle():
        skip(reason)
    return programs_of(TOOLS)


@pytest.fixture(scope="module")
def place(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A control plane and two nodes, while the tests of one file run."""
    with running(programs, tmp_path_factory.mktemp("place")) as made:
        yield made
