"""An elastic job gets another size while it runs: the same Jobs, with more or fewer pods.

Those of Kueue and of the coscheduling plug-in are in `tests/nightly/cluster`.
"""

import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.reporters import Site, paddle_job

NUMBERS = itertools.count()


@pytest.fixture
def site(jobset_cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    """A namespace of the test's own."""
    made = Site(jobset_cluster, jobset_cluster.namespace(f"elastic-{next(NUMBERS)}"), tmp_path)
    yield made
    jobset_cluster.admin.delete(ref("v1", "Namespace", made.namespace))


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_elastic_job_gets_the_number_of_pods_that_its_spec_has_now(site: Site, jobs: str) -> None:
    platform: Manifest = {"engines": {"jobs": jobs}, "paddle": {"elasticServers": ["etcd.ml:2379"]}}
    for size in (2, 3, 1):
        spec = paddle_job("job", size)
        spec["spec"]["elastic"] = 1
        site.apply([spec], platform)
        wait_for(partial(has_pods, site, size), what=f"{size} pods")
    assert len(site.cluster.admin.list("batch/v1", "Job", site.namespace)) == 1


def has_pods(site: Site, size: int) -> bool:
    """Whether so many pods of the job are to go on."""
    return sum("deletionTimestamp" not in pod["metadata"] for pod in site.pods("job")) == size
