"""Outputs of a Training on a real API server with real controllers: status, rights, and the wait for the run's end.

The pods that copy stay without a node, since the claim that they copy to does not exist; the test writes their status
as the kubelet would.
"""

import itertools
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
from tests.cluster.client import ApiError, Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.reporters import HOLD, Site

NUMBERS = itertools.count()
DATASET: Manifest = {
    **ref("stowplan.dev/v1alpha1", "Dataset", "runs"),
    "spec": {"volume": {"juicefs": {"secretRef": {"name": "jfs"}}}},
}
FINAL, LOGS = "/runs/final", "/runs/logs"
TRANSITION = "2026-01-01T00:00:00Z"


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    """A namespace of the test's own."""
    made = Site(cluster, cluster.namespace(f"outputs-{next(NUMBERS)}"), tmp_path)
    yield made
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": made.namespace}})


def output(path: str = FINAL, claim: str = "archive", **more: Any) -> Manifest:
    return {"path": path, "to": {"claim": {"name": claim}}, **more}


def apply(site: Site, *outputs: Manifest, jobs: str = "core") -> None:
    """Apply a job on one node, whose pod runs until it is told to end."""
    fields = {
        "framework": "torch",
        "image": "local/none:1",
        "datasets": [{"name": "runs", "mountPath": "/runs", "readOnly": False}],
        "outputs": list(outputs),
        "template": {"metadata": {"annotations": {HOLD: "true"}}},
    }
    job = {**ref("stowplan.dev/v1alpha1", "Training", "llm"), "spec": fields}
    site.apply([DATASET, job], {"engines": {"jobs": jobs}})


def until(site: Site, **fields: Any) -> dict[str, Any]:
    return site.until("Training", "llm", **fields)


def phases(status: dict[str, Any]) -> list[str]:
    return [each["phase"] for each in status["outputs"]]


def copier(site: Site, index: int) -> Manifest:
    """The Job that copies an output, as it was applied last."""
    (found,) = [
        each for each in site.made("Job") if each["metadata"]["labels"].get("stowplan.dev/output") == str(index)
    ]
    return found


def finish(site: Site, index: int, code: int = 0) -> None:
    """Let the pod of an output end, once it is there."""
    name = copier(site, index)["metadata"]["name"]

    def pod() -> Manifest | None:
        labelled = site.cluster.admin.list("v1", "Pod", site.namespace, f"batch.kubernetes.io/job-name={name}")
        return labelled[0] if labelled else None

    ended = {"terminated": {"exitCode": code, "reason": "Ended", "finishedAt": TRANSITION, "startedAt": TRANSITION}}
    container = {"name": "output", "image": "x", "imageID": "", "ready": False, "restartCount": 0, "state": ended}
    status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [container]}
    site.patch_status(wait_for(pod, what="the pod of an output"), status)


def runs(site: Site) -> dict[str, str]:
    """The uids of the Jobs that train, by name."""
    jobs = site.cluster.admin.list("batch/v1", "Job", site.namespace, "stowplan.dev/output!=0")
    return {str(each["metadata"]["name"]): str(each["metadata"]["uid"]) for each in jobs}


def test_a_job_succeeds_once_its_outputs_are_copied(site: Site) -> None:
    """An edit of the place copies again, and does not train again."""
    apply(site, output())
    with site.reporter():
        status = until(site, phase="Running", nodesReady="1/1")
        assert phases(status) == ["Waiting"]
        site.end("llm")
        status = until(site, phase="Running", Complete="CopyingOutputs")
        assert phases(status) == ["Running"]
        assert "/runs/final is being copied" in status["message"]
        assert "completionTime" not in status
        finish(site, 0)
        status = until(site, phase="Succeeded", Complete="Succeeded")
        assert (phases(status), "message" in status) == (["Succeeded"], False)
        before, first = runs(site), copier(site, 0)["metadata"]["name"]
        apply(site, output(claim="elsewhere"))
        assert copier(site, 0)["metadata"]["name"] != first
        until(site, phase="Running", Complete="CopyingOutputs", observedGeneration=2)
        finish(site, 0)
        until(site, phase="Succeeded", observedGeneration=2)
    assert runs(site) == before


def test_a_failed_job_skips_outputs_for_success_and_copies_the_others(site: Site) -> None:
    apply(site, output(), output(LOGS, when="always"))
    with site.reporter():
        until(site, phase="Running")
        site.end("llm", exit_code=1)
        status = until(site, phase="Failed", Failed="ContainerFailed")
        assert phases(status) == ["Skipped", "Running"]
        finish(site, 1)
        wait_for(lambda: phases(site.status("Training", "llm")) == ["Skipped", "Succeeded"], what="the copy")
        assert site.status("Training", "llm")["phase"] == "Failed"


@contextmanager
def waiting(site: Site, index: int = 0) -> Iterator["tuple[subprocess.Popen[str], Path]"]:
    """The init container of an output as a process, with the rights of its pod; and the file by which it says `no`."""
    pod = copier(site, index)["spec"]["template"]["spec"]
    (container,) = pod["initContainers"]
    trust = site.cluster.trust
    account = {**ref("v1", "ServiceAccount", pod["serviceAccountName"], site.namespace)}
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    answer = site.cluster.admin.request("POST", site.cluster.admin.path(account, "token"), request)
    folder = site.folder / f"wait-{index}"
    folder.mkdir()
    own = account_directory(
        folder / "account", token=answer["status"]["token"], authorities=trust.authority.certificate
    )
    address, skip = urlsplit(trust.server), folder / "skipped"
    environment = {
        "PATH": os.environ["PATH"],
        "KUBERNETES_SERVICE_HOST": str(address.hostname),
        "KUBERNETES_SERVICE_PORT": str(address.port),
    }
    command = [sys.executable, *container["command"][1:], *container["args"]]
    command += [f"--skip-file={skip}", f"--service-account={own}"]
    with (folder / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, env=environment, stderr=log, stdout=log, text=True)
        try:
            yield process, skip
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize(("jobs", "code"), [("core", 1), ("jobset", 0)])
def test_the_pod_of_an_output_waits_for_the_end_of_the_run(
    jobset_cluster: Cluster, site: Site, jobs: str, code: int
) -> None:
    """After a failure it says that an output for success is not needed, and of the other one that it is."""
    assert jobset_cluster is site.cluster
    apply(site, output(), output(LOGS, when="always"), jobs=jobs)
    with waiting(site, 0) as (first, no), waiting(site, 1) as (second, never):
        wait_for(lambda: site.pods("llm") and _runs(site), what="the run")
        assert (first.poll(), second.poll()) == (None, None)
        site.end("llm", exit_code=code)
        assert (first.wait(60), second.wait(60)) == (0, 0)
        assert (no.exists(), never.exists()) == (code != 0, False)
        if code:
            assert "failed, and this output is for success" in no.read_text()


def _runs(site: Site) -> bool:
    roles = {each["metadata"]["labels"].get("stowplan.dev/role"): each for each in site.pods("llm")}
    node: Manifest = roles.get("node") or {}
    return bool(node.get("status", {}).get("phase") == "Running")


@pytest.mark.parametrize("jobs", ["core", "jobset"])
def test_the_pod_of_an_output_may_read_its_run_and_nothing_else(jobset_cluster: Cluster, site: Site, jobs: str) -> None:
    assert jobset_cluster is site.cluster
    apply(site, output(), jobs=jobs)
    account = copier(site, 0)["spec"]["template"]["spec"]["serviceAccountName"]
    client = site.cluster.client_for_service_account(site.namespace, account)
    (run,) = [
        each
        for each in (*site.made("Job"), *site.made("JobSet"))
        if "stowplan.dev/output" not in each["metadata"]["labels"]
    ]
    wait_for(lambda: _allowed(client, run), what="the binding")
    path = site.cluster.admin.path(run)
    every, _, name = path.rpartition("/")
    watched = f"{every}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3D{name}"
    assert client.http.get(watched).status_code == 200
    copy = site.cluster.admin.path(copier(site, 0))
    core = f"/api/v1/namespaces/{site.namespace}"
    refused = [
        client.http.get(every),
        client.http.get(f"{every}?watch=true&timeoutSeconds=1"),
        client.http.get(copy),
        client.http.delete(path),
        client.http.patch(path, json={}, headers={"Content-Type": "application/merge-patch+json"}),
        client.http.get(f"{core}/pods"),
        client.http.get(f"{core}/secrets"),
        client.http.get(site.cluster.admin.path(site.made("Training")[0])),
    ]
    assert {answer.status_code for answer in refused} == {403}


def _allowed(client: Client, run: Manifest) -> bool:
    try:
        return client.find(run) is not None
    except ApiError as error:
        if error.status == 403:
            return False
        raise
