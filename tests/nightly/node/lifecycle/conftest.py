"""One place for the lives of pods: each test has a namespace of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster import jobsets
from tests.cluster.fixtures import programs_of
from tests.cluster.tools import JOBSET
from tests.nightly.node import images
from tests.nightly.node.lifecycle.life import Life
from tests.nightly.node.place import Place, running
from tests.repositories import PLATFORM


@pytest.fixture(scope="package")
def place(programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A control plane and two nodes."""
    with running(programs, tmp_path_factory.mktemp("place")) as made:
        yield made


@pytest.fixture(scope="package")
def agents(place: Place, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The image of the agents that are in users' pods, on the nodes."""
    names = images.names(yaml.safe_load(PLATFORM), ("control",))
    images.load(place, names, tmp_path_factory.mktemp("agents") / "images")


@pytest.fixture(scope="package")
def jobset(place: Place) -> None:
    """The JobSet controller runs."""
    jobsets.start(place.cluster, programs_of([JOBSET])["jobset"])


@pytest.fixture
def life(place: Place, request: pytest.FixtureRequest) -> Life:
    """A namespace of the test's own, whose pods may use folders of their node."""
    name = request.node.originalname.removeprefix("test_").replace("_", "-")[:50].strip("-")
    taken = [each["metadata"]["name"] for each in place.cluster.admin.list("v1", "Namespace")]
    number = len([each for each in taken if each.startswith(name)])
    made = Life(place.nodes[0], place.cluster.namespace(f"{name}-{number}", "privileged"))
    made.folder.mkdir(parents=True)
    return made
