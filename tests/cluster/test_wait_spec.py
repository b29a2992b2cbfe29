"""A task that runs after others: the compiled init container as a process, with its compiled rights, on a server."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.agents.accounts import account_directory
from tests.agents.await_process import AwaitProcess
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.repositories import compiled

NAMESPACE = "wait-spec"
SPECS = """\
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleSet
metadata: {name: data, namespace: wait-spec}
spec: {partitions: 1, noSync: true, secretRef: {name: data}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: clean, namespace: wait-spec}
spec: {type: rmr, sampleSetRef: {name: data}, rmrOptions: {paths: [old]}}
---
apiVersion: batch.paddlepaddle.org/v1alpha1
kind: SampleJob
metadata: {name: warm, namespace: wait-spec, annotations: {stowplan.dev/run-after: "SampleSet/data, SampleJob/clean"}}
spec: {type: warmup, sampleSetRef: {name: data}}
"""


@pytest.fixture
def objects(cluster: Cluster, served: dict[str, Manifest], tmp_path: Path) -> Iterator[dict[str, list[Manifest]]]:
    """What the task compiles to, by kind; its account and rights are applied."""
    cluster.namespace(NAMESPACE)
    (tmp_path / "repo").mkdir()
    found: dict[str, list[Manifest]] = {}
    for output in compiled(tmp_path / "repo", {"data.yaml": SPECS}).outputs:
        if (output.spec and output.spec.name == "warm") or output.manifest.kind in ("SampleSet", "SampleJob"):
            found.setdefault(output.manifest.kind, []).append(output.manifest.body)
    for kind in ("ServiceAccount", "Role", "RoleBinding"):
        for body in found[kind]:
            cluster.admin.apply(body)
    yield found
    cluster.admin.delete(ref("v1", "Namespace", NAMESPACE))


@contextmanager
def waiting(cluster: Cluster, objects: dict[str, list[Manifest]], folder: Path) -> Iterator[AwaitProcess]:
    (job,) = objects["Job"]
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["initContainers"]
    path = cluster.admin.path(ref("v1", "ServiceAccount", pod["serviceAccountName"], NAMESPACE), "token")
    request: Manifest = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    token = cluster.admin.request("POST", path, request)["status"]["token"]
    trust = cluster.trust
    account = account_directory(folder / "account", token=token, authorities=trust.authority.certificate)
    server = urlsplit(trust.server)
    environment = {
        "PATH": os.environ["PATH"],
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "STOWPLAN_POD": "warm-0",
    }
    command = [sys.executable, *container["command"][1:], *container["args"], f"--service-account={account}"]
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=environment, stderr=log, stdout=log, text=True)
        try:
            yield AwaitProcess(process, folder)
        finally:
            process.kill()
            process.wait()


def condition(cluster: Cluster, resource: Manifest, kind: str, status: str, generation: int) -> None:
    at = "2026-01-01T00:00:00Z"
    found: dict[str, Any] = {"type": kind, "status": status, "reason": "Because", "message": f"It is {status}"}
    found |= {"lastTransitionTime": at, "observedGeneration": generation}
    cluster.admin.patch(resource, {"status": {"conditions": [found]}}, subresource="status")


def details(agent: AwaitProcess) -> list[str]:
    return [str(each.get("detail")) for each in agent.events()]


def test_a_task_waits_until_the_newest_version_of_each_spec_is_done(
    cluster: Cluster, objects: dict[str, list[Manifest]], tmp_path: Path
) -> None:
    (data,) = objects["SampleSet"]
    clean = next(each for each in objects["SampleJob"] if each["metadata"]["name"] == "clean")
    with waiting(cluster, objects, tmp_path) as agent:
        wait_for(lambda: "it is not there" in details(agent), what="the first look")
        cluster.admin.create(clean)
        condition(cluster, clean, "Complete", "False", 1)
        wait_for(lambda: "It is False" in details(agent), what="the task that runs")
        condition(cluster, clean, "Complete", "True", 2)
        wait_for(lambda: "its newest version was not seen yet" in details(agent), what="the old run")
        condition(cluster, clean, "Complete", "True", 1)
        wait_for(lambda: "it is Complete" in details(agent), what="the first spec")
        assert agent.process.poll() is None
        cluster.admin.create(data)
        condition(cluster, data, "Ready", "True", 1)
        assert agent.exit_code() == 0, agent.events()


def test_a_task_reads_what_it_waits_for_and_no_other_spec(cluster: Cluster, objects: dict[str, list[Manifest]]) -> None:
    (role,) = objects["Role"]
    rights = {
        (rule["resources"][0], name, verb)
        for rule in role["rules"]
        for name in rule["resourceNames"]
        for verb in rule["verbs"]
    }
    assert rights == {
        ("samplejobs", "warm", "get"),
        ("samplejobs/status", "warm", "get"),
        ("samplejobs/status", "warm", "patch"),
        ("samplejobs", "clean", "get"),
        ("samplejobs", "clean", "watch"),
        ("samplesets", "data", "get"),
        ("samplesets", "data", "watch"),
    }
