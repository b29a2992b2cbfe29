"""Reports of the cache agent's tasks, with the rights of their Roles, on a real API server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from stowplan.schema.agents.marker import marker_path
from tests.agents.accounts import account_directory
from tests.cluster.client import Manifest, ref
from tests.cluster.control_plane import Cluster
from tests.cluster.deciders import ACCOUNT, Deciders

GROUP = "batch.paddlepaddle.org"
RBAC = "rbac.authorization.k8s.io"
KINDS = {"SampleJob": "samplejobs", "SampleSet": "samplesets"}
CANARY = "metaurl-CANARY-0123456789"


@pytest.fixture(scope="module")
def account(cluster: Cluster, served: dict[str, Manifest]) -> Iterator[Deciders]:
    """An account with the rights of a task on the objects `job`, and on nothing else."""
    found = Deciders(cluster, cluster.namespace("task-status"))
    found.account()
    names = {"apiGroups": [GROUP], "resourceNames": ["job"]}
    rules = [
        {**names, "resources": list(KINDS.values()), "verbs": ["get"]},
        {**names, "resources": [f"{each}/status" for each in KINDS.values()], "verbs": ["get", "patch"]},
    ]
    cluster.admin.apply({**ref(f"{RBAC}/v1", "Role", ACCOUNT, found.namespace), "rules": rules})
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": found.namespace}
    role = {"apiGroup": RBAC, "kind": "Role", "name": ACCOUNT}
    binding = ref(f"{RBAC}/v1", "RoleBinding", ACCOUNT, found.namespace)
    cluster.admin.apply({**binding, "roleRef": role, "subjects": [subject]})
    yield found
    cluster.admin.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": found.namespace}})


@pytest.fixture(params=["SampleJob"])
def made(account: Deciders, request: pytest.FixtureRequest) -> Iterator[Manifest]:
    """The custom resource, as Argo CD applies it."""
    admin = account.cluster.admin
    manifest = ref(f"{GROUP}/v1alpha1", request.param, "job", account.namespace)
    yield admin.create({**manifest, "spec": {}})
    admin.delete(manifest)


class Tasks:
    """Tasks on a folder that is no mount: they end before they need one."""

    def __init__(self, account: Deciders, made: Manifest, folder: Path) -> None:
        self.folder = folder
        server = account.cluster.trust
        self.directory = account_directory(
            folder / "account", token=account.token(), authorities=server.authority.certificate
        )
        address = urlsplit(server.server)
        self.environment = {
            "PATH": os.environ["PATH"],
            "KUBERNETES_SERVICE_HOST": str(address.hostname),
            "KUBERNETES_SERVICE_PORT": str(address.port),
        }
        self.target = {"kind": made["kind"], "namespace": account.namespace, "name": "job"}
        (folder / "mnt").mkdir()

    def start(self, task: str, run: str, partition: int = 0, **fields: Any) -> "subprocess.Popen[str]":
        own: dict[str, Any] = {"mountPath": str(self.folder / "mnt"), "dataset": "flowers"}
        config = {"task": task, "target": self.target, "reportPhase": True, **own, **fields}
        path = self.folder / f"{task}-{partition}.json"
        path.write_text(json.dumps(config), encoding="utf-8")
        command = [sys.executable, "-m", "stowplan.agents.cache", task, f"--config={path}"]
        more = [f"--partition={partition}", f"--service-account={self.directory}"]
        variables = {**self.environment, "STOWPLAN_RUN": run, "STOWPLAN_POD": f"{run}-pod"}
        return subprocess.Popen(
            [*command, *more], env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def done(self, *runs: str) -> None:
        """Markers of runs, so that they have nothing to do."""
        for run in runs:
            marker = self.folder / "mnt" / marker_path(run)
            marker.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"format": 1, "run": run, "result": "succeeded", "exitCode": 0})
            marker.write_text(text, encoding="utf-8")


def end(process: "subprocess.Popen[str]") -> int:
    with process:
        output, _ = process.communicate(timeout=60)
    sys.stdout.write(output)
    return process.returncode


@pytest.fixture
def tasks(account: Deciders, made: Manifest, tmp_path: Path) -> Tasks:
    return Tasks(account, made, tmp_path)


WARM: dict[str, Any] = {"paths": [], "strategy": "sequence", "partitions": 2, "threshold": 95}


def test_success(account: Deciders, made: Manifest, tasks: Tasks) -> None:
    tasks.done("job-abc")
    assert end(tasks.start("rmr", "job-abc", paths=["a"])) == 0
    live = account.cluster.admin.get(made)
    status = live["status"]
    assert (status["phase"], status["jobName"]) == ("Succeeded", "job-abc")
    assert status["counts"] == {"total": 1, "running": 0, "succeeded": 1, "failed": 0}
    (entry,) = status["attempts"]
    wanted = {
        "task": "rmr",
        "partition": 0,
        "run": "job-abc",
        "pod": "job-abc-pod",
        "state": "succeeded",
        "exitCode": 0,
    }
    assert entry.items() >= wanted.items()
    assert {"startedAt", "updatedAt"} <= entry.keys()
    assert {each["type"]: each["status"] for each in status["conditions"]} == {"Complete": "True", "Failed": "False"}
    assert live["spec"] == made["spec"]
    owned = {each["manager"]: each for each in live["metadata"]["managedFields"]}["stowplan-rmr-0"]
    assert (owned["operation"], owned["subresource"], set(owned["fieldsV1"])) == ("Apply", "status", {"f:status"})


def test_each_partition_has_an_entry_of_its_own(account: Deciders, made: Manifest, tasks: Tasks) -> None:
    """Both at once, whoever comes first: neither takes the other one's entry away, and the last phase knows of both."""
    for hash_ in ("abc", "def"):
        started = [tasks.start("warmup", f"job-{number}-{hash_}", number, **WARM) for number in (0, 1)]
        assert [end(each) for each in started] == [10, 10]
    status = account.cluster.admin.get(made)["status"]
    assert {each["partition"]: each["run"] for each in status["attempts"]} == {0: "job-0-def", 1: "job-1-def"}
    assert len(status["attempts"]) == 2
    assert status["counts"] == {"total": 2, "running": 0, "succeeded": 0, "failed": 2}
    assert status["jobName"] == "job-0-def"


def test_a_run_before_counts_no_more(account: Deciders, made: Manifest, tasks: Tasks) -> None:
    assert end(tasks.start("warmup", "job-1-100", 1, **WARM)) == 10
    assert end(tasks.start("warmup", "job-0-200", 0, **WARM)) == 10
    status = account.cluster.admin.get(made)["status"]
    assert status["counts"] == {"total": 2, "running": 0, "succeeded": 0, "failed": 1}
    assert [each["reason"] for each in status["attempts"]] == ["NoMount", "NoMount"]


def test_the_phase_is_left_to_the_reporter(account: Deciders, made: Manifest, tasks: Tasks) -> None:
    tasks.done("job-abc")
    assert end(tasks.start("rmr", "job-abc", paths=["a"], reportPhase=False)) == 0
    assert set(account.cluster.admin.get(made)["status"]) == {"attempts"}


@pytest.mark.parametrize("made", ["SampleSet"], indirect=True)
def test_a_sample_set_gets_the_entry_alone(account: Deciders, made: Manifest, tasks: Tasks) -> None:
    tasks.done("job-abc")
    assert end(tasks.start("rmr", "job-abc", paths=["a"])) == 0
    assert set(account.cluster.admin.get(made)["status"]) == {"attempts"}


def test_failure_without_the_secrets_that_it_speaks_of(account: Deciders, made: Manifest, tasks: Tasks) -> None:
    tasks.environment |= {"STOWPLAN_VOLUME_METAURL": f"redis://:{CANARY}@127.0.0.1:1/1"}
    assert end(tasks.start("rmr", "job-abc", paths=[f"../{CANARY}"])) == 2
    status = account.cluster.admin.get(made)["status"]
    (entry,) = status["attempts"]
    assert (status["phase"], entry["state"], entry["exitCode"], entry["reason"]) == ("Failed", "failed", 2, "BadPath")
    text = json.dumps(status)
    assert "[redacted]" in text
    assert CANARY not in text
