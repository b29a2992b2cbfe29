"""Reports of the transfer agent on a DataCube, with the rights of its Role, on a real API server."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.report import StatusReporter
from stowplan.agents.cluster.access import Access
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.status import of_cube
from stowplan.schema.agents.agent_config import StatusTarget
from stowplan.schema.agents.field_managers import TRANSFER, task
from stowplan.schema.agents.marker import marker_path
from tests.agents.accounts import account_directory
from tests.agents.transfer.agent import Cube
from tests.agents.transfer.faults import Fault, proxied
from tests.agents.transfer.server import ACCESS_KEY, SECRET_KEY, Storage
from tests.cluster.client import Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.deciders import ACCOUNT, Deciders

GROUP = "tensorstack.dev"
OF_DATASETS = "batch.paddlepaddle.org"
RBAC = "rbac.authorization.k8s.io"
SPEC = {"source": {"type": "s3"}, "sink": {"type": "pvc"}}
NOBODY = Storage("http://127.0.0.1:9", "nobody")
"""No server: these transfers end before they need one."""


@pytest.fixture(scope="module")
def account(cluster: Cluster, served: dict[str, Manifest]) -> Iterator[Deciders]:
    """An account with the rights of an agent on the DataCube `cube` and the SampleSet `coco`, and on nothing else."""
    found = Deciders(cluster, cluster.namespace("transfer-status"))
    found.account()
    names = {"apiGroups": [GROUP], "resourceNames": ["cube"]}
    sets = {"apiGroups": [OF_DATASETS], "resourceNames": ["coco"]}
    rules = [
        {**names, "resources": ["datacubes"], "verbs": ["get"]},
        {**names, "resources": ["datacubes/status"], "verbs": ["get", "patch"]},
        {**sets, "resources": ["samplesets"], "verbs": ["get"]},
        {**sets, "resources": ["samplesets/status"], "verbs": ["get", "patch"]},
    ]
    cluster.admin.apply({**ref(f"{RBAC}/v1", "Role", ACCOUNT, found.namespace), "rules": rules})
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": found.namespace}
    role = {"apiGroup": RBAC, "kind": "Role", "name": ACCOUNT}
    binding = ref(f"{RBAC}/v1", "RoleBinding", ACCOUNT, found.namespace)
    cluster.admin.apply({**binding, "roleRef": role, "subjects": [subject]})
    yield found
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": found.namespace}})


def resource(account: Deciders) -> Manifest:
    return ref(f"{GROUP}/v1beta1", "DataCube", "cube", account.namespace)


@pytest.fixture
def made(account: Deciders) -> Iterator[Manifest]:
    """The custom resource, as Argo CD applies it."""
    admin = account.cluster.admin
    yield admin.create({**resource(account), "spec": SPEC})
    admin.delete(resource(account))


def transfer(account: Deciders, folder: Path, *, token: str = "", endpoint: str = "", **fields: Any) -> int:
    """A whole run of the agent; gives its exit code."""
    cube = Cube(folder, NOBODY, endpoint, {"target": target(account), **fields})
    server = account.cluster.trust
    directory = account_directory(
        folder / "account", token=token or account.token(), authorities=server.authority.certificate
    )
    address = urlsplit(server.server)
    environment = {
        "KUBERNETES_SERVICE_HOST": str(address.hostname),
        "KUBERNETES_SERVICE_PORT": str(address.port),
        "STOWPLAN_POD": "cube-batchjob-abcdefgh-xyz",
    }
    more = (f"--service-account={directory}",)
    with cube.started(cube.remote(), cube.local(), "run", environment, more) as process:
        output, _ = process.communicate(timeout=60)
    sys.stdout.write(output)
    return process.returncode


def target(account: Deciders) -> dict[str, str]:
    return {"kind": "DataCube", "namespace": account.namespace, "name": "cube"}


def done_before(folder: Path) -> None:
    """The marker of the run, so that the transfer has nothing to do."""
    marker = folder / "claim" / marker_path("run")
    marker.parent.mkdir(parents=True)
    marker.write_text(json.dumps({"format": 1, "run": "run", "result": "succeeded", "exitCode": 0}))


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def test_success(account: Deciders, made: Manifest, tmp_path: Path) -> None:
    """It takes over a field that somebody else wrote."""
    admin = account.cluster.admin
    admin.request("PATCH", admin.path(made, "status"), {"status": {"progress": "7%"}}, "application/merge-patch+json")
    done_before(tmp_path)
    assert transfer(account, tmp_path) == 0
    live = account.cluster.admin.get(made)
    status = live["status"]
    assert (status["phase"], status["progress"]) == ("Succeeded", "100%")
    assert conditions(status) == {
        "Initialized": ("True", "Started"),
        "Complete": ("True", "Succeeded"),
        "Failed": ("False", "Succeeded"),
    }
    # Kubernetes drops fields that the schema of the kind does not have.
    assert all(each["lastProbeTime"] >= each["lastTransitionTime"] for each in status["conditions"])
    assert status["conditions"][0]["message"] == "The DataCube is initialized"
    attempt = status["attempt"]
    assert (attempt["run"], attempt["pod"], attempt["result"], attempt["exitCode"]) == (
        "run", "cube-batchjob-abcdefgh-xyz", "succeeded", 0,
    )  # fmt: skip
    assert status["observedGeneration"] == live["metadata"]["generation"]
    assert live["spec"] == made["spec"]
    owned = {each["manager"]: each for each in live["metadata"]["managedFields"]}["stowplan-transfer"]
    assert (owned["operation"], owned["subresource"], set(owned["fieldsV1"])) == ("Apply", "status", {"f:status"})


@pytest.mark.parametrize("phase", ["Ready", None], ids=["alone", "beside a reporter"])
def test_sync_of_a_dataset_in_a_claim(account: Deciders, tmp_path: Path, phase: str | None) -> None:
    """It leaves the entries of others alone, such as one of an older version."""
    admin = account.cluster.admin
    coco = ref(f"{OF_DATASETS}/v1alpha1", "SampleSet", "coco", account.namespace)
    admin.create({**coco, "spec": {"noSync": True, "csi": {"driver": "pvc"}}})
    try:
        other = {"task": "warmup", "partition": 0, "state": "succeeded"}
        admin.apply({**coco, "status": {"attempts": [other]}}, manager=task("warmup", 0), subresource="status")
        done_before(tmp_path)
        about = {"kind": "SampleSet", "namespace": account.namespace, "name": "coco"}
        assert transfer(account, tmp_path, target=about, reportPhase=phase is not None) == 0
        live = admin.get(coco)
    finally:
        admin.delete(coco)
    status = live["status"]
    entries = {(each["task"], each["partition"]): each for each in status["attempts"]}
    assert entries["warmup", 0] == other
    own = entries["sync", 0]
    assert (own["run"], own["state"], own["exitCode"], own["reason"]) == ("run", "succeeded", 0, "Succeeded")
    assert status.get("phase") == phase
    assert ("conditions" in status) == (phase is not None)
    managers = {each["manager"] for each in live["metadata"]["managedFields"] if each.get("subresource") == "status"}
    assert managers == {"stowplan-sync-0", "stowplan-warmup-0"}


def test_phase_is_left_to_the_reporter(account: Deciders, made: Manifest, tmp_path: Path) -> None:
    done_before(tmp_path)
    assert transfer(account, tmp_path, reportPhase=False) == 0
    assert set(account.cluster.admin.get(made)["status"]) == {"progress", "attempt"}


def test_report_that_is_refused_does_not_end_the_transfer(account: Deciders, made: Manifest, tmp_path: Path) -> None:
    done_before(tmp_path)
    assert transfer(account, tmp_path, token="nobody") == 0
    assert "status" not in account.cluster.admin.get(made)


def test_failure_without_the_secrets_that_it_speaks_of(account: Deciders, made: Manifest, tmp_path: Path) -> None:
    body = f"<Error><Code>Teapot</Code><Message>{quote(SECRET_KEY)} {ACCESS_KEY}</Message></Error>".encode()
    with proxied(NOBODY.endpoint) as proxy:
        proxy.rule = lambda _: Fault(418, body)
        assert transfer(account, tmp_path, endpoint=proxy.url) == 10
    status = account.cluster.admin.get(made)["status"]
    assert (status["phase"], status["attempt"]["exitCode"]) == ("Failed", 10)
    assert conditions(status)["Failed"] == ("True", "Teapot")
    text = json.dumps(status)
    assert "[redacted]" in text
    assert not {secret for secret in (quote(SECRET_KEY), SECRET_KEY, ACCESS_KEY) if secret in text}


def test_custom_resource_that_comes_after_the_job(account: Deciders, tmp_path: Path) -> None:
    admin = account.cluster.admin
    (tmp_path / "token").write_text(account.token(), encoding="ascii")
    trust = account.cluster.trust
    access = Access(trust.server, tmp_path / "token", trust.authority.certificate)
    outcome = AttemptOutcome("run", None)
    reporter = StatusReporter(
        access,
        StatusTarget(kind="DataCube", namespace=account.namespace, name="cube"),
        lambda _: of_cube(outcome, phase=True),
        TRANSFER,
        Log(),
    )
    try:
        made = admin.create({**resource(account), "spec": SPEC})
        status = wait_for(lambda: admin.get(made).get("status"), what="the first report")
        assert (status["phase"], conditions(status)["Complete"][0]) == ("Running", "False")
        outcome.end(3, "AccessDenied", "no access")
    finally:
        reporter.end()
    status = admin.get(made)["status"]
    assert (status["phase"], status["attempt"]["message"]) == ("Failed", "no access")
    admin.delete(made)
