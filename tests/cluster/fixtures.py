"""A control plane as a fixture: one for each folder of tests that imports these into its `conftest.py`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.absent import skip
from tests.cluster import coschedulers, jobsets, kueues
from tests.cluster.binaries import Missing, obtain
from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster, running
from tests.cluster.crds import CRDS
from tests.cluster.shared import engine_crd, load_one
from tests.cluster.sync import establish
from tests.cluster.tools import COSCHEDULING, JOBSET, KUEUE, Tool, control_plane


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
    _start_jobset(cluster)
    return cluster


def _start_jobset(cluster: Cluster) -> None:
    jobsets.start(cluster, programs_of([JOBSET])["jobset"])


@pytest.fixture(scope="package")
def kueue(minor: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[kueues.Kueue]:
    """Kueue and the JobSet controller in a cluster of their own, since Kueue holds back all jobs that name a queue."""
    program = programs_of([KUEUE])["kueue"]
    with running(programs_of(control_plane(minor)), tmp_path_factory.mktemp("kueue-cluster")) as cluster:
        _start_jobset(cluster)
        yield kueues.start(cluster, program)


@pytest.fixture(scope="package")
def coscheduling_cluster(jobset_cluster: Cluster) -> Cluster:
    """The cluster with JobSet once a scheduler with the coscheduling plug-in runs in it."""
    program = programs_of([COSCHEDULING])["coscheduling"]
    establish(jobset_cluster.admin, engine_crd("scheduling.x-k8s.io", "PodGroup"))
    coschedulers.start(jobset_cluster, program)
    return jobset_cluster


@pytest.fixture(scope="package")
def served(cluster: Cluster) -> dict[str, Manifest]:
    """Our live CRDs by the kind that they define."""
    live = [establish(cluster.admin, load_one(path)) for path in CRDS.values()]
    return {crd["spec"]["names"]["kind"]: crd for crd in live}
