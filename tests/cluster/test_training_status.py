"""The status of a Training on a real API server with real controllers of Jobs and JobSets."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.reporters import HOLD, Site

NUMBERS = itertools.count()
NOWHERE: Manifest = {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}}


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    """A namespace of the test's own."""
    made = Site(cluster, cluster.namespace(f"training-status-{next(NUMBERS)}"), tmp_path)
    yield made
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.namespace}})


def training(pod: Manifest | None = None, **spec: Any) -> Manifest:
    """A job with two nodes whose pods run until they are told to end."""
    template = {"metadata": {"annotations": {HOLD: "true"}}, "spec": pod or {}}
    fields = {"framework": "torch", "image": "local/none:1", "numNodes": 2, "template": template}
    return {**ref("stowplan.dev/v1alpha1", "Training", "llm"), "spec": {**fields, **spec}}


def until(site: Site, **fields: Any) -> dict[str, Any]:
    return site.until("Training", "llm", **fields)


def container(state: Manifest, name: str = "trainer", *, ready: bool = False) -> Manifest:
    return {"name": name, "image": "x", "imageID": "", "ready": ready, "restartCount": 0, "state": state}


def condition(kind: str, status: str = "True") -> Manifest:
    return {"type": kind, "status": status, "lastTransitionTime": "2026-01-01T00:00:00Z"}


BEGUN = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
READY = {
    "phase": "Running",
    "conditions": [condition("PodScheduled"), condition("Ready"), condition("ContainersReady")],
    "containerStatuses": [container(BEGUN, ready=True)],
}


def ended(code: int, **more: Any) -> Manifest:
    state = {"terminated": {"exitCode": code, "reason": "Error", "finishedAt": "2026-01-01T00:00:00Z"}}
    return {"phase": "Failed", "containerStatuses": [container(state)], **more}


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_a_job_runs_and_succeeds(jobset_cluster: Cluster, site: Site, jobs: str) -> None:
    assert jobset_cluster is site.cluster
    site.apply([training()], {"engines": {"jobs": jobs}})
    with site.reporter():
        status = until(site, phase="Running", nodesReady="2/2", Complete="Running")
        assert (status["nodes"], status["readyNodes"], status["observedGeneration"]) == (2, 2, 1)
        assert status.get("restarts") == (0 if jobs == "jobset" else None)
        site.end("llm")
        after = until(site, phase="Succeeded", nodesReady="2/2", Complete="Succeeded")
    assert after["startTime"] == status["startTime"] <= after["completionTime"]
    assert "message" not in after


def test_a_lost_pod_that_the_job_replaces_is_a_restart(site: Site) -> None:
    site.apply([training(NOWHERE, numNodes=1)])
    with site.reporter():
        until(site, phase="Pending")
        (pod,) = site.pods("llm")
        site.patch_status(pod, READY)
        before = until(site, phase="Running", nodesReady="1/1")
        gone = {**condition("DisruptionTarget"), "reason": "DeletionByTaintManager", "message": "the node is gone"}
        site.patch_status(pod, ended(137, conditions=[gone]))
        status = until(site, phase="Restarting", nodesReady="0/1", Complete="NodeLost")
        assert "the node is gone" in status["message"]
        (new,) = [each for each in site.pods("llm") if _name(each) != _name(pod)]
        site.patch_status(new, READY)
        after = until(site, phase="Running", nodesReady="1/1")
        assert after["startTime"] == before["startTime"]


def _name(pod: Manifest) -> str:
    return str(pod["metadata"]["name"])


def test_the_deadline_fails_the_job(site: Site) -> None:
    site.apply([training(activeDeadlineSeconds=2)])
    with site.reporter():
        until(site, phase="Failed", Failed="DeadlineExceeded")


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_suspend_holds_the_job_back(jobset_cluster: Cluster, site: Site, jobs: str) -> None:
    assert jobset_cluster is site.cluster
    engines = {"engines": {"jobs": jobs}}
    site.apply([training(suspend=True)], engines)
    with site.reporter():
        until(site, phase="Suspended", nodesReady="0/2", Suspended="Suspended")
        site.apply([training()], engines)
        until(site, phase="Running", nodesReady="2/2", Suspended="NotSuspended")
        site.apply([training(suspend=True)], engines)
        until(site, phase="Suspended", nodesReady="0/2")
