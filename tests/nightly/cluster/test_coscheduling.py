"""The real coscheduling plug-in places the pods of a compiled job together, or none of them."""

import itertools
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import nodes
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.gates import DATASET, Closed
from tests.cluster.reporters import HOLD, Site, paddle_job

NUMBERS = itertools.count()
MOST = 700
"""CPUs of a pod of which each node can run one."""


@pytest.fixture
def site(coscheduling_cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    """A namespace of the test's own; the nodes are free again when it is over."""
    made = Site(coscheduling_cluster, coscheduling_cluster.namespace(f"coscheduling-{next(NUMBERS)}"), tmp_path)
    yield made
    admin = coscheduling_cluster.admin
    admin.delete(ref("v1", "Namespace", made.namespace))
    wait_for(lambda: not admin.list("v1", "Pod", made.namespace), what="the end of all pods")


def training(name: str, size: int) -> Manifest:
    template = {"metadata": {"annotations": {HOLD: "true"}}}
    resources = {"requests": {"cpu": str(MOST)}}
    fields = {"framework": "torch", "image": "local/none:1", "numNodes": size, "resourcesPerNode": resources}
    return {**ref("stowplan.dev/v1alpha1", "Training", name), "spec": {**fields, "template": template}}


def platform(jobs: str = "core") -> Manifest:
    return {"engines": {"jobs": jobs, "gang": "coscheduling"}}


def placed(site: Site, name: str) -> int:
    """How many pods of a spec have a node."""
    return sum("nodeName" in pod["spec"] for pod in site.pods(name))


def refused(site: Site, name: str) -> bool:
    """Whether the scheduler looked at all pods of a spec and found no node."""
    reasons: list[Any] = [
        condition["reason"]
        for pod in site.pods(name)
        for condition in pod["status"].get("conditions", ())
        if condition["type"] == "PodScheduled"
    ]
    return bool(reasons) and set(reasons) == {"Unschedulable"} and len(reasons) == len(site.pods(name))


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_job_is_placed_whole_or_not_at_all(site: Site, jobs: str) -> None:
    """At times the scheduler forgets a pod that it refused: then the others of its job keep their nodes for 60 s.

    That is the `scheduleTimeoutSeconds` of each compiled PodGroup.
    """
    site.apply([training("first", 2)], platform(jobs))
    wait_for(lambda: placed(site, "first") == 2, what="the first job")
    site.apply([training("second", nodes.COUNT - 1)], platform(jobs))
    wait_for(lambda: len(site.pods("second")) == nodes.COUNT - 1 and refused(site, "second"), what="its refusal")
    assert placed(site, "second") == 0
    site.apply([training("third", 2)], platform(jobs))
    wait_for(lambda: placed(site, "third") == 2, 120, what="a third job, for which two nodes are free")
    site.end("first")
    site.end("third")
    wait_for(lambda: placed(site, "second") == nodes.COUNT - 1, 120, what="the second job")


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_closed_run_has_no_pods_so_that_another_job_gets_the_room(site: Site, jobs: str) -> None:
    waiting, run = training("net", nodes.COUNT), Closed(site)
    waiting["spec"]["datasets"] = [{"name": "flowers", "mountPath": "/data", "wait": {}}]
    site.apply([DATASET, waiting, training("other", 2)], platform(jobs))
    run.claim("samples")
    wait_for(lambda: placed(site, "other") == 2, what="the other job")
    assert (run.is_closed(), run.pods()) == (True, [])
    site.end("other")
    wait_for(lambda: all(pod["status"]["phase"] == "Succeeded" for pod in site.pods("other")), what="its end")
    run.report()
    with run.gate():
        wait_for(
            lambda: sum("nodeName" in pod["spec"] for pod in run.pods()) == nodes.COUNT, 120, what="a node for each"
        )


def test_job_with_a_minimum_starts_with_so_many_pods(site: Site) -> None:
    """Though there is no room for all of them."""
    job = paddle_job("a", nodes.COUNT + 1)
    (container,) = job["spec"]["worker"]["template"]["spec"]["containers"]
    container["resources"] = {"requests": {"cpu": str(MOST + 200)}}
    job["spec"]["schedulingPolicy"] = {"minAvailable": 2}
    site.apply([job], platform())
    wait_for(lambda: placed(site, "a") == nodes.COUNT, what="as many pods as there are nodes")


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_elastic_job_has_a_node_for_each_pod_of_its_present_size(site: Site, jobs: str) -> None:
    # As above: the scheduler may forget a pod for a minute.
    settings = {**platform(jobs), "paddle": {"elasticServers": ["etcd.ml:2379"]}}
    for size in (2, 3, 1):
        job = paddle_job("job", size)
        job["spec"] |= {"elastic": 1, "schedulingPolicy": {"minAvailable": 1}}
        site.apply([job], settings)
        wait_for(partial(has_size, site, "job", size), 120, what=f"{size} placed pods")
    assert len(site.cluster.admin.list("batch/v1", "Job", site.namespace)) == 1


def has_size(site: Site, name: str, size: int) -> bool:
    """Whether so many pods of a spec are to go on, and each has a node."""
    going = [pod for pod in site.pods(name) if "deletionTimestamp" not in pod["metadata"]]
    return len(going) == size and all("nodeName" in pod["spec"] for pod in going)
