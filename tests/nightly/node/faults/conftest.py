"""One place for all faults, with Argo CD and servers: each test has specs of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.nightly.node import stores
from tests.nightly.node.delivery import Delivery
from tests.nightly.node.faults import faulty
from tests.nightly.node.place import Place, running
from tests.nightly.node.stores import Stores


@pytest.fixture(scope="package")
def place(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A control plane and two nodes."""
    with running(programs, tmp_path_factory.mktemp("place")) as made:
        yield made


@pytest.fixture(scope="package")
def delivery(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivery]:
    with faulty.delivering(place, tmp_path_factory.mktemp("delivery")) as made:
        yield made


@pytest.fixture(scope="package")
def servers(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A bucket, and what volumes stand on."""
    with stores.running(tmp_path_factory.mktemp("stores")) as made:
        yield made
