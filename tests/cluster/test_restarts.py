"""Jobs that start again as a whole, on the real controllers of Jobs and JobSets, and what their status says.

Programs are played. Pods are lost by the eviction API and by the scheduler's preemption. `tests/nightly/cluster` has
Kueue, the coscheduling plug-in, more exit codes, and nodes that are lost.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import nodes
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.reporters import EXIT_CODE, HOLD, Site

NUMBERS = itertools.count()
ENDS = {HOLD: "true", "kwok.stowplan.dev/ends-when-deleted": "true"}
"""A pod runs until it is told to end, and then fails, as a kubelet lets it, before its object goes."""
ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
LONGEST = 180
"""Seconds. Controllers act a minute after a node is lost; the rest is for a machine that is busy."""
ONE_CPU = {"requests": {"cpu": "1"}}
SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass
class Restarting(Site):
    """A namespace whose platform has JobSet and a gang engine."""

    gang: str = "none"

    @property
    def platform(self) -> Manifest:
        return {"engines": {"jobs": "jobset", "gang": self.gang, "queue": "training"}}

    def apply(self, specs: Sequence[Manifest], platform: Manifest | None = None) -> list[Manifest]:
        return super().apply(specs, platform or self.platform)


@pytest.fixture
def site(jobset_cluster: Cluster, tmp_path: Path) -> Iterator[Restarting]:
    """A namespace of the test's own."""
    made = Restarting(jobset_cluster, jobset_cluster.namespace(f"restarts-{next(NUMBERS)}"), tmp_path)
    yield made
    jobset_cluster.admin.delete(ref("v1", "Namespace", made.namespace))


def training(pod: Manifest | None = None, **fields: Any) -> Manifest:
    """A job with two nodes."""
    template = {"metadata": {"annotations": ENDS}, "spec": pod or {}}
    given = {"framework": "torch", "image": "local/none:1", "numNodes": 2, "template": template}
    spec = {**given, "resourcesPerNode": ONE_CPU, **fields}
    return {**ref("stowplan.dev/v1alpha1", "Training", "llm"), "spec": spec}


def until(site: Restarting, **fields: Any) -> dict[str, Any]:
    return site.until("Training", "llm", LONGEST, **fields)


def attempt(site: Restarting, number: int, size: int = 2) -> list[Manifest]:
    """The pods of an attempt, once they run."""

    def running() -> list[Manifest]:
        found = [pod for pod in site.pods("llm") if pod["metadata"]["labels"][ATTEMPT] == str(number)]
        return found if [pod["status"].get("phase") for pod in found] == ["Running"] * size else []

    return wait_for(running, LONGEST, what=f"the pods of attempt {number}")


def end(site: Restarting, pod: Manifest, code: int) -> None:
    site.cluster.admin.patch(pod, {"metadata": {"annotations": {HOLD: None, EXIT_CODE: str(code)}}})


@pytest.mark.parametrize(("framework", "code"), [("torch", 1), ("jax", 137)])
def test_a_failed_pod_restarts_the_whole_job(site: Restarting, framework: str, code: int) -> None:
    assert_restarts(site, framework, code)


def assert_restarts(site: Restarting, framework: str, code: int) -> None:
    """The whole job starts again when one of its pods ends with this exit code."""
    site.apply([training(framework=framework, restart={"max": 2})])
    with site.reporter():
        first = attempt(site, 0)
        before = until(site, phase="Running", restarts=0, countedRestarts=0)
        end(site, first[1], code)
        second = attempt(site, 1)
        after = until(site, phase="Running", nodesReady="2/2", restarts=1, countedRestarts=1)
    assert after["startTime"] == before["startTime"]
    assert not {pod["metadata"]["uid"] for pod in first} & {pod["metadata"]["uid"] for pod in second}


@pytest.mark.parametrize(
    ("framework", "code", "restart"),
    [("torch", 2, {}), ("jax", 1, {}), ("torch", 137, {"failOn": [137]}), ("torch", 1, {"retryOn": [75]})],
)
def test_a_final_exit_code_ends_the_job(site: Restarting, framework: str, code: int, restart: Manifest) -> None:
    assert_ends(site, framework, code, restart)


def assert_ends(site: Restarting, framework: str, code: int, restart: Manifest) -> None:
    """The job fails when one of its pods ends with this exit code."""
    site.apply([training(framework=framework, restart={"max": 2, **restart})])
    with site.reporter():
        end(site, attempt(site, 0)[1], code)
        status = until(site, phase="Failed", restarts=0, Failed="ContainerFailed")
    assert f"exit code {code}" in status["message"]


def test_an_exit_code_that_the_user_lists_restarts_the_job(site: Restarting) -> None:
    site.apply([training(framework="jax", restart={"max": 1, "retryOn": [75]})])
    with site.reporter():
        end(site, attempt(site, 0)[0], 75)
        attempt(site, 1)
        until(site, phase="Running", restarts=1, countedRestarts=1)


def test_the_job_fails_after_its_last_restart(site: Restarting) -> None:
    assert_fails_after_its_last_restart(site)


def assert_fails_after_its_last_restart(site: Restarting) -> None:
    site.apply([training(restart={"max": 1})])
    with site.reporter():
        end(site, attempt(site, 0)[0], 1)
        end(site, attempt(site, 1)[0], 1)
        status = until(site, phase="Failed", restarts=1, countedRestarts=1, Failed="ContainerFailed")
    assert status["message"].endswith("exit code 1, after 1 restart")


def evict(site: Restarting, pod: Manifest) -> None:
    eviction = {**ref("policy/v1", "Eviction", pod["metadata"]["name"], site.namespace)}
    site.cluster.admin.request("POST", site.cluster.admin.path(pod, "eviction"), eviction)


def test_evictions_are_free(site: Restarting) -> None:
    """More of them than restarts that are allowed."""
    site.apply([training(restart={"max": 0})])
    with site.reporter():
        for number in range(2):
            evict(site, attempt(site, number)[1])
        attempt(site, 2)
        until(site, phase="Running", nodesReady="2/2", restarts=2, countedRestarts=0)


@contextmanager
def pool(cluster: Cluster, *names: str) -> Iterator[Manifest]:
    """Nodes for one pod each, and what a pod needs to run there."""
    label = f"{names[0]}.example.com/pool"
    for name in names:
        add_node(cluster, name, label)
    try:
        yield {"nodeSelector": {label: ""}}
    finally:
        for each in cluster.admin.list("v1", "Node", labels=label):
            cluster.admin.delete(each)


def add_node(cluster: Cluster, name: str, label: str) -> None:
    made = nodes.node(name)
    made["metadata"]["labels"][label] = ""
    made["spec"] = {"taints": [{"key": label, "effect": "NoSchedule"}]}
    made["status"] = {each: {**made["status"][each], "cpu": "1"} for each in ("capacity", "allocatable")}
    cluster.admin.create(made)


def placed(where: Manifest, **fields: Any) -> Manifest:
    (label,) = where["nodeSelector"]
    return {**where, "tolerations": [{"key": label, "operator": "Exists"}], **fields}


def test_a_preemption_is_free(site: Restarting) -> None:
    """By the scheduler, for a pod of a higher priority."""
    admin, name = site.cluster.admin, f"{site.namespace}-high"
    high = {**ref("scheduling.k8s.io/v1", "PriorityClass", name), "value": 1000}
    with pool(site.cluster, f"{site.namespace}-a", f"{site.namespace}-b") as where:
        admin.create(high)
        site.apply([training(placed(where), restart={"max": 0})])
        with site.reporter():
            attempt(site, 0)
            until(site, phase="Running")
            urgent = urgent_pod(placed(where, priorityClassName=name), site.namespace)
            admin.create(urgent)
            until(site, phase="Restarting", restarts=1, countedRestarts=0)
            admin.delete(urgent)
            attempt(site, 1)
            until(site, phase="Running", nodesReady="2/2", restarts=1, countedRestarts=0)
        admin.delete(high)


def urgent_pod(spec: Mapping[str, Any], namespace: str) -> Manifest:
    container = {"name": "main", "image": "local/none:1", "resources": ONE_CPU, "securityContext": SAFE}
    return {**ref("v1", "Pod", "urgent", namespace), "spec": {**spec, "containers": [container]}}


def role(name: str, size: int) -> Manifest:
    container = {"name": name, "image": "local/none:1", "securityContext": SAFE}
    template = {"metadata": {"annotations": ENDS}, "spec": {"containers": [container]}}
    return {"replicas": size, "template": template}


MX_JOB: Manifest = {
    **ref("mxnet.mlkube.io/v1beta1", "MxJob", "llm"),
    "spec": {
        "jobMode": "dist",
        "replicaSpecs": [{"mxReplicaType": each, **role("mxnet", 1)} for each in ("SCHEDULER", "SERVER", "WORKER")],
    },
}


def test_a_job_of_a_legacy_kind_restarts_as_often_as_its_annotation_says(site: Restarting) -> None:
    """All of its roles, when a pod of one fails."""
    metadata = {**MX_JOB["metadata"], "annotations": {"stowplan.dev/restarts": "1"}}
    site.apply([{**MX_JOB, "metadata": metadata}])
    size = len(site.made("JobSet")[0]["spec"]["replicatedJobs"])
    with site.reporter():
        end(site, attempt(site, 0, size)[0], 137)
        last = attempt(site, 1, size)
        site.until("MxJob", "llm", LONGEST, phase="Running")
        end(site, last[-1], 137)
        site.until("MxJob", "llm", LONGEST, state="Failed")
