"""Restarts of whole jobs with Kueue and the coscheduling plug-in, after more exit codes, and after a node is lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.client import ref, wait_for
from tests.cluster.reporters import paddle_job
from tests.cluster.test_restarts import (
    ATTEMPT,
    LONGEST,
    NUMBERS,
    Restarting,
    assert_ends,
    assert_fails_after_its_last_restart,
    assert_restarts,
    attempt,
    end,
    placed,
    pool,
    training,
    until,
)
from tests.nightly.cluster import queues

GANGS = ["none", "kueue", "coscheduling"]
PLAYED = "kwok.stowplan.dev/node"
"""Label of the nodes that KWOK plays."""


@pytest.fixture
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Restarting]:
    """A namespace of the test's own. With Kueue it has a queue with room for the pods of one job."""
    gang = getattr(request, "param", "none")
    clusters = {"none": "jobset_cluster", "kueue": "kueue", "coscheduling": "coscheduling_cluster"}
    found = request.getfixturevalue(clusters[gang])
    cluster = found.cluster if gang == "kueue" else found
    made = Restarting(cluster, cluster.namespace(f"restarts-{next(NUMBERS)}"), tmp_path, gang=gang)
    if gang == "kueue":
        queues.make_queue(cluster.admin, made.namespace, 2)
    yield made
    cluster.admin.delete(ref("v1", "Namespace", made.namespace))


@pytest.mark.parametrize(
    ("site", "framework", "code"),
    [
        ("none", "torch", 137),
        ("none", "none", 3),
        ("none", "xgboost", 134),
        ("kueue", "torch", 1),
        ("coscheduling", "torch", 1),
    ],
    indirect=["site"],
)
def test_a_failed_pod_restarts_the_whole_job(site: Restarting, framework: str, code: int) -> None:
    assert_restarts(site, framework, code)
    if site.gang == "kueue":
        status = queues.workload(site.cluster.admin, site.made("JobSet")[0])["status"]
        assert {"Admitted", "Evicted"} & {each["type"] for each in status["conditions"]} == {"Admitted"}


@pytest.mark.parametrize(("framework", "code"), [("none", 127), ("xgboost", 1), ("paddle", 1)])
def test_a_final_exit_code_ends_the_job(site: Restarting, framework: str, code: int) -> None:
    assert_ends(site, framework, code, {})


@pytest.mark.parametrize("site", ["kueue", "coscheduling"], indirect=True)
def test_the_job_fails_after_its_last_restart(site: Restarting) -> None:
    assert_fails_after_its_last_restart(site)


def test_the_deadline_ends_the_job_and_counts_for_each_attempt(site: Restarting) -> None:
    """It must outlast the start of the first attempt on a machine that is busy."""
    site.apply([training(restart={"max": 3}, activeDeadlineSeconds=30)])
    with site.reporter():
        end(site, attempt(site, 0)[0], 1)
        again = max(pod["metadata"]["creationTimestamp"] for pod in attempt(site, 1))
        status = until(site, phase="Failed", restarts=1, Failed="DeadlineExceeded")
    (job,) = site.cluster.admin.list("batch/v1", "Job", site.namespace)
    assert status["completionTime"] >= again
    assert job["metadata"]["labels"][ATTEMPT] == "1"


@pytest.mark.parametrize("site", GANGS, indirect=True)
def test_a_lost_node_is_free(site: Restarting) -> None:
    """The garbage collector ends the pods of a node that is gone, after a minute."""
    first, second, other = (f"{site.namespace}-{letter}" for letter in "abc")
    with pool(site.cluster, first, second, other) as where:
        admin = site.cluster.admin
        admin.patch(ref("v1", "Node", other), {"spec": {"unschedulable": True}})
        site.apply([training(placed(where), restart={"max": 0})])
        with site.reporter():
            attempt(site, 0)
            until(site, phase="Running")
            admin.delete(ref("v1", "Node", second))
            until(site, phase="Restarting", restarts=1, countedRestarts=0)
            admin.patch(ref("v1", "Node", other), {"spec": {"unschedulable": None}})
            assert {pod["spec"]["nodeName"] for pod in attempt(site, 1)} == {first, other}
            until(site, phase="Running", nodesReady="2/2", restarts=1, countedRestarts=0)


def test_a_node_that_nobody_brings_back(site: Restarting) -> None:
    """The pod stays until the node is declared out of service, and its status says why; then its Job replaces it."""
    first, other = (f"{site.namespace}-{letter}" for letter in "ab")
    admin = site.cluster.admin
    with pool(site.cluster, first, other) as where:
        admin.patch(ref("v1", "Node", other), {"spec": {"unschedulable": True}})
        spec = placed(where)
        gone = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
        spec["tolerations"] = [*spec["tolerations"], {**gone, "tolerationSeconds": 5}]
        site.apply([paddle_job("job", **spec)], {"kind": "Platform"})
        with site.reporter():
            site.until("PaddleJob", "job", LONGEST, phase="Running")
            (pod,) = site.pods("job")
            admin.patch(ref("v1", "Node", first), {"metadata": {"labels": {PLAYED: None}}})
            # The node controller waits for 50 seconds.
            site.until("PaddleJob", "job", LONGEST, Complete="NodeLost")
            wait_for(lambda: "deletionTimestamp" in admin.get(pod)["metadata"], what="the end of the toleration")
            wait_for(lambda: "Taint manager: deleting" in _message(site), what="why the pod is to go")
            admin.patch(ref("v1", "Node", other), {"spec": {"unschedulable": None}})
            taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
            taints = admin.get(ref("v1", "Node", first))["spec"].get("taints", [])
            admin.patch(ref("v1", "Node", first), {"spec": {"taints": [*taints, taint]}})
            wait_for(lambda: admin.find(pod) is None, 90, what="the end of the pod, which the controller looks for")
            site.until("PaddleJob", "job", phase="Running", Complete="Running")


def _message(site: Restarting) -> str:
    conditions = site.status("PaddleJob", "job")["conditions"]
    return next(str(each.get("message")) for each in conditions if each["type"] == "Complete")
