"""A control plane as a fixture: one for each folder of tests that imports these into its `conftest.py`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.absent import skip
from tests.cluster import jobsets
from tests.cluster.binaries import Missing, obtain
from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster, running
from tests.cluster.crds import CRDS
from tests.cluster.shared import load_one
from tests.cluster.sync import establish
from tests.cluster.tools import JOBSET, Tool, control_plane


def programs_of(tools: Iterable[Tool]) -> dict[str, Path]:
    """The tools' programs by name; skips with the reason when one cannot be had."""
    programs: dict[str, Path] = {}
    for tool in tools:
        found = obtain(tool)
        if isinstance(found, Missing):
            skip(str(found))
        programs |= found.paths
    return programs


@pytest.fixture(scope="package")
def cluster(minor: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A running control plane with fake nodes. Tests share it, so each works in namespaces of its own."""
    programs = programs_of(control_plane(minor))
    with running(programs, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def jobset_cluster(cluster: Cluster) -> Cluster:
    """The same cluster once the JobSet controller runs in it."""
    start_jobset(cluster)
    return cluster


def start_jobset(cluster: Cluster) -> None:
    """Run the JobSet controller."""
    jobsets.start(cluster, programs_of([JOBSET])["jobset"])


@pytest.fixture(scope="package")
def served(cluster: Cluster) -> dict[str, Manifest]:
    """Our live CRDs by the kind that they define."""
    live = [establish(cluster.admin, load_one(path)) for path in CRDS.values()]
    return {crd["spec"]["names"]["kind"]: crd for crd in live}
