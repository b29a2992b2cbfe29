"""An elastic job gets another size while it runs: the same Jobs, with more or fewer pods. Kueue's: `test_kueue.py`."""

import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.reporters import Site, paddle_job
from tests.cluster.shared import engine_crd
from tests.cluster.sync import establish

NUMBERS = itertools.count()
ENGINES = list(itertools.product(("core", "jobset"), ("none", "volcano", "coscheduling")))


@pytest.fixture(params=ENGINES, ids="-".join)
def platform(jobset_cluster: Cluster, request: pytest.FixtureRequest) -> Manifest:
    """A pair of engines. Of Volcano and the coscheduling plug-in there are the PodGroups alone."""
    jobs, gang = request.param
    for group in ("scheduling.volcano.sh", "scheduling.x-k8s.io"):
        establish(jobset_cluster.admin, engine_crd(group, "PodGroup"))
    return {"engines": {"jobs": jobs, "gang": gang}, "paddle": {"elasticServers": ["etcd.ml:2379"]}}


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    """A namespace of the test's own."""
    made = Site(cluster, cluster.namespace(f"elastic-{next(NUMBERS)}"), tmp_path)
    yield made
    cluster.admin.delete(ref("v1", "Namespace", made.namespace))


def test_elastic_job_gets_the_number_of_pods_that_its_spec_has_now(site: Site, platform: Manifest) -> None:
    gang = platform["engines"]["gang"]
    for size in (2, 3, 1):
        spec = paddle_job("job", size)
        spec["spec"] |= {"elastic": 1, "schedulingPolicy": {"minAvailable": 1}} if gang != "none" else {"elastic": 1}
        site.apply([spec], platform)
        wait_for(partial(has_pods, site, size), what=f"{size} pods")
    assert len(site.cluster.admin.list("batch/v1", "Job", site.namespace)) == 1


def has_pods(site: Site, size: int) -> bool:
    """Whether so many pods of the job are to go on."""
    return sum("deletionTimestamp" not in pod["metadata"] for pod in site.pods("job")) == size
