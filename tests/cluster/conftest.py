"""The control plane as a fixture: one per Kubernetes minor, while a process runs tests of this folder."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.cluster import argocd, coschedulers, jobsets, kueues
from tests.cluster.binaries import Found, Missing, obtain
from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster, running
from tests.cluster.crds import CRDS
from tests.cluster.plugin import argocd_minors, minors
from tests.cluster.shared import engine_crd, load_one
from tests.cluster.sync import establish
from tests.cluster.tools import ARGOCD, COSCHEDULING, JOBSET, KUEUE, Tool, control_plane


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test that uses the cluster runs once per minor.

    With Argo CD it is the newest alone unless told otherwise.
    """
    if "minor" in metafunc.fixturenames:
        metafunc.parametrize("minor", _minors(metafunc), indirect=True, scope="package")


def _minors(metafunc: pytest.Metafunc) -> list[str]:
    return (argocd_minors if "argocd_programs" in metafunc.fixturenames else minors)(metafunc.config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a control plane."""
    for item in items:
        parameters = getattr(item, "callspec", None)
        if parameters is not None and parameters.params.get("minor"):
            item.add_marker(pytest.mark.cluster)


@pytest.fixture(scope="package")
def minor(request: pytest.FixtureRequest) -> str:
    """The Kubernetes minor of the control plane, such as `1.37`."""
    return str(request.param)


def _programs(tools: Iterable[Tool]) -> dict[str, Path]:
    """The tools' programs by name; skips with the reason when one cannot be had."""
    programs: dict[str, Path] = {}
    for tool in tools:
        match obtain(tool):
            case Missing() as missing:
                pytest.skip(str(missing))
            case Found() as found:
                programs |= found.paths
    return programs


@pytest.fixture(scope="package")
def cluster(minor: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A running control plane with fake nodes. Tests share it, so each works in namespaces of its own."""
    programs = _programs(control_plane(minor))
    with running(programs, tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="package")
def jobset_cluster(cluster: Cluster) -> Cluster:
    """The same cluster once the JobSet controller runs in it."""
    _start_jobset(cluster)
    return cluster


def _start_jobset(cluster: Cluster) -> None:
    programs = _programs([JOBSET])
    jobsets.start(cluster, programs["jobset"])


@pytest.fixture(scope="package")
def kueue(minor: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[kueues.Kueue]:
    """Kueue and the JobSet controller in a cluster of their own, since Kueue holds back all jobs that name a queue."""
    program = _programs([KUEUE])["kueue"]
    with running(_programs(control_plane(minor)), tmp_path_factory.mktemp("kueue-cluster")) as cluster:
        _start_jobset(cluster)
        yield kueues.start(cluster, program)


@pytest.fixture(scope="package")
def coscheduling_cluster(jobset_cluster: Cluster) -> Cluster:
    """The cluster with JobSet once a scheduler with the coscheduling plug-in runs in it."""
    programs = _programs([COSCHEDULING])
    establish(jobset_cluster.admin, engine_crd("scheduling.x-k8s.io", "PodGroup"))
    coschedulers.start(jobset_cluster, programs["coscheduling"])
    return jobset_cluster


@pytest.fixture(scope="package")
def argocd_programs(request: pytest.FixtureRequest) -> argocd.Programs:
    """What runs Argo CD; skips unless it was asked for. Then it must be there."""
    if not request.config.getoption("--argocd"):
        pytest.skip("runs with --argocd: many minutes, most of them waiting")
    program, redis = obtain(ARGOCD), argocd.redis_server()
    assert isinstance(program, Found), str(program)
    assert redis is not None, "no redis-server, which Argo CD needs"
    return argocd.Programs(program.paths["argocd-controllers"], redis)


@pytest.fixture(scope="package")
def served(cluster: Cluster) -> dict[str, Manifest]:
    """Our live CRDs by the kind that they define."""
    live = [establish(cluster.admin, load_one(path)) for path in CRDS.values()]
    return {crd["spec"]["names"]["kind"]: crd for crd in live}
