"""A control plane of the newest Kubernetes, with Kueue or the coscheduling plug-in for the tests that want them."""

from collections.abc import Iterator

import pytest

from tests.cluster.control_plane import Cluster, running
from tests.cluster.fixtures import cluster, jobset_cluster, programs_of, served, start_jobset
from tests.cluster.shared import engine_crd
from tests.cluster.sync import establish
from tests.cluster.tools import COSCHEDULING, KUEUE, NEWEST, control_plane
from tests.nightly.cluster import coschedulers, kueues

__all__ = ["cluster", "jobset_cluster", "served"]


@pytest.fixture(scope="session")
def minor() -> str:
    """The Kubernetes minor of the control plane, such as `1.37`."""
    return NEWEST


@pytest.fixture(scope="package")
def kueue(minor: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[kueues.Kueue]:
    """Kueue and the JobSet controller in a cluster of their own, since Kueue holds back all jobs that name a queue."""
    program = programs_of([KUEUE])["kueue"]
    with running(programs_of(control_plane(minor)), tmp_path_factory.mktemp("kueue-cluster")) as cluster:
        start_jobset(cluster)
        yield kueues.start(cluster, program)


@pytest.fixture(scope="package")
def coscheduling_cluster(jobset_cluster: Cluster) -> Cluster:
    """The cluster with JobSet once a scheduler with the coscheduling plug-in runs in it."""
    program = programs_of([COSCHEDULING])["coscheduling"]
    establish(jobset_cluster.admin, engine_crd("scheduling.x-k8s.io", "PodGroup"))
    coschedulers.start(jobset_cluster, program)
    return jobset_cluster
