"""Argo CD's application controller and repository server, run next to the control plane."""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.client import Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.crds import CRDS
from tests.cluster.processes import Process, Processes, free_port, listens
from tests.cluster.shared import load_one
from tests.cluster.sync import establish
from tests.cluster.tools import ARGOCD

API_VERSION = "argoproj.io/v1alpha1"

SECONDS = 600
"""How long to wait for Argo CD to do something, on a machine that others use too. It polls every few seconds."""


@dataclass(frozen=True)
class Programs:
    """What Argo CD consists of here."""

    controllers: Path
    """The application controller and the repository server, as one program."""
    redis: Path


@dataclass(frozen=True)
class ArgoCD:
    """A running Argo CD."""

    client: Client
    controller: Process
    namespace: str

    def application(self, name: str) -> Manifest:
        return self.client.get(ref(API_VERSION, "Application", name, self.namespace))

    def operation(self, name: str) -> Manifest:
        """The running operation or the last one; empty in the moment in which a new one begins."""
        operation: Manifest = self.application(name).get("status", {}).get("operationState", {})
        return operation

    def seen(self, name: str) -> str:
        """The commit that the Application was compared with last."""
        revision: str = self.application(name).get("status", {}).get("sync", {}).get("revision", "")
        return revision

    def complaints(self, name: str) -> str:
        """The messages of the Application's conditions."""
        conditions = self.application(name).get("status", {}).get("conditions", [])
        return "\n".join(condition["message"] for condition in conditions)

    def applications(self) -> dict[str, Manifest]:
        """All Applications by name."""
        return {item["metadata"]["name"]: item for item in self.client.list(API_VERSION, "Application", self.namespace)}

    def terminate(self, name: str) -> None:
        """End the running operation, as `argocd app terminate-op` does."""
        changes: Manifest = {"status": {"operationState": {"phase": "Terminating"}}}
        self.client.patch(ref(API_VERSION, "Application", name, self.namespace), changes)

    def await_sync(self, revision: str, names: set[str]) -> None:
        """Wait until exactly the Applications `names` exist, all Synced to the commit with no operation left open."""
        try:
            wait_for(lambda: self._unsettled(revision, names) == {}, SECONDS, what="sync")
        except TimeoutError:
            unsettled = json.dumps(self._unsettled(revision, names), indent=1)
            raise TimeoutError(f"not synced to {revision}: {unsettled}") from None

    def await_health(self, name: str, health: str) -> None:
        """Wait until the Application is `Progressing`, `Healthy` or what else Argo CD knows."""
        try:
            wait_for(lambda: self._health(name) == health, SECONDS, what=health)
        except TimeoutError:
            raise TimeoutError(
                f"{name} not {health}: {json.dumps(summary(self.application(name)), indent=1)}"
            ) from None

    def unhealthy(self, name: str) -> list[str]:
        """What is not healthy in the Application, with what Argo CD says of it."""
        return [
            f"{item['kind']} {item['name']}: {item['health'].get('message', item['health']['status'])}"
            for item in self.application(name)["status"]["resources"]
            if item.get("health", {}).get("status", "Healthy") != "Healthy"
        ]

    def _health(self, name: str) -> str:
        status: str = self.application(name)["status"]["health"]["status"]
        return status

    def _unsettled(self, revision: str, names: set[str]) -> dict[str, object]:
        found = self.applications()
        strange: dict[str, object] = dict.fromkeys(found.keys() - names, "should not exist")
        strange |= dict.fromkeys(names - found.keys(), "does not exist")
        strange |= {name: summary(item) for name, item in found.items() if not is_settled(item, revision)}
        return strange


def is_settled(application: Manifest, revision: str) -> bool:
    """Whether Argo CD compared the commit with the cluster, found no difference and has nothing left to do."""
    status = application.get("status", {})
    sync = status.get("sync", {})
    return (
        sync.get("status") == "Synced"
        and sync.get("revision") == revision
        and status.get("operationState", {}).get("phase") == "Succeeded"
        and "operation" not in application
        and not status.get("conditions")
    )


def summary(application: Manifest) -> dict[str, object]:
    """What Argo CD says of the Application, in short."""
    status = application.get("status", {})
    operation = status.get("operationState", {})
    return {
        "sync": {key: value for key, value in status.get("sync", {}).items() if key != "comparedTo"},
        "health": status.get("health"),
        "conditions": status.get("conditions"),
        "operation": {key: operation.get(key) for key in ("phase", "message", "retryCount")},
    }


def redis_server() -> Path | None:
    """Redis as the distribution packages it."""
    found = shutil.which("redis-server")
    return Path(found) if found else None


def crds() -> list[Manifest]:
    """The CRDs of the very version that runs, from its Go module."""
    folder = _source() / "manifests" / "crds"
    return [load_one(folder / f"{name}-crd.yaml") for name in ("application", "appproject", "applicationset")]


def _source() -> Path:
    """The folder of Argo CD's Go module."""
    command = ["go", "mod", "download", "-json", f"{ARGOCD.module}@{ARGOCD.version}"]
    done = subprocess.run(command, cwd=ARGOCD.folder, capture_output=True, check=True)
    return Path(json.loads(done.stdout)["Dir"])


@contextmanager
def running(cluster: Cluster, namespace: str, programs: Programs, folder: Path) -> Iterator[ArgoCD]:
    """Install Argo CD in the cluster and run it, with a poll every few seconds, until the block ends.

    It looks at the Applications of its own namespace alone. That is never `argocd`, where other tests of the same
    cluster put the Applications of the examples. The folder gets the logs, the clones and Redis' files.
    """
    _disown_crds(cluster)
    for manifest in crds():
        establish(cluster.admin, manifest)
    _install(cluster, namespace)
    processes = Processes(folder)
    try:
        cache = _start_redis(processes, programs.redis, folder)
        repository = _start_repo_server(processes, programs.controllers, cache, folder)
        arguments = [f"--namespace={namespace}", f"--redis={cache}", f"--repo-server={repository}"]
        controller = _start_controller(processes, programs.controllers, cluster, arguments)
        yield ArgoCD(cluster.admin, controller, namespace)
    finally:
        processes.stop()
        _disown_crds(cluster)


def _disown_crds(cluster: Cluster) -> None:
    """Let the CRDs be nobody's: another module's Argo CD may have applied them before, or will do so later.

    Without a label they also differ from Git, or there would be nothing to sync.
    """
    annotations, labels = {"argocd.argoproj.io/tracking-id": None}, {"app.kubernetes.io/part-of": None}
    for path in CRDS.values():
        if live := cluster.admin.find(load_one(path)):
            cluster.admin.patch(live, {"metadata": {"annotations": annotations, "labels": labels}})


def _install(cluster: Cluster, namespace: str) -> None:
    """What `manifests/base/config` of Argo CD brings, and its default AppProject."""
    cluster.namespace(namespace)
    labels = {"app.kubernetes.io/part-of": "argocd"}
    for kind, name in [("ConfigMap", "argocd-cm"), ("ConfigMap", "argocd-rbac-cm"), ("Secret", "argocd-secret")]:
        manifest = ref("v1", kind, name, namespace)
        manifest["metadata"]["labels"] = labels
        if kind == "Secret":
            manifest["data"] = {"server.secretkey": base64.b64encode(b"of-no-use-to-anyone").decode()}
        cluster.admin.apply(manifest, manager="harness")
    project = ref(API_VERSION, "AppProject", "default", namespace)
    anything = [{"group": "*", "kind": "*"}]
    project["spec"] = {
        "sourceRepos": ["*"],
        "destinations": [{"namespace": "*", "server": "*"}],
        "clusterResourceWhitelist": anything,
    }
    cluster.admin.apply(project, manager="harness")


def _start_redis(processes: Processes, program: Path, folder: Path) -> str:
    port = free_port()
    arguments = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(folder)]
    process = processes.start(program, arguments)
    process.await_ready(lambda: listens(port), 120)
    return f"127.0.0.1:{port}"


def _start_repo_server(processes: Processes, program: Path, cache: str, folder: Path) -> str:
    port = free_port()
    arguments = [
        "argocd-repo-server",
        "--address=127.0.0.1",
        f"--port={port}",
        "--metrics-address=127.0.0.1",
        f"--metrics-port={free_port()}",
        "--disable-tls",
        "--client-ca-path=",  # its default is refused together with the line above
        f"--redis={cache}",
        "--revision-cache-expiration=1s",
    ]
    clones = folder / "clones"
    clones.mkdir()
    programs = folder / "bin"
    programs.mkdir()
    verifier = Path(shutil.copy(_source() / "hack" / "git-verify-wrapper.sh", programs))
    verifier.chmod(0o755)  # the server runs it on each commit, to see what Git says of a signature
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "TMPDIR": str(clones),
        "ARGOCD_ASK_PASS_SOCK": str(folder / "ask-pass"),
        "ARGOCD_GPG_ENABLED": "false",
    }
    process = _start(processes, program, arguments, environment)
    process.await_ready(lambda: listens(port), 120)
    return f"127.0.0.1:{port}"


def _start_controller(processes: Processes, program: Path, cluster: Cluster, more: list[str]) -> Process:
    metrics = free_port()
    arguments = [
        "argocd-application-controller",
        f"--kubeconfig={cluster.kubeconfig}",
        *more,
        f"--metrics-port={metrics}",
        "--repo-server-plaintext",
        "--persist-resource-health",
        "--app-resync=10",
        "--app-resync-jitter=0",
    ]
    # Argo CD's own way to run outside of the cluster: its "in-cluster" address is where the kubeconfig points.
    environment = {"ARGOCD_FAKE_IN_CLUSTER": "true", "KUBECONFIG": str(cluster.kubeconfig)}
    process = _start(processes, program, arguments, environment)
    process.await_ready(lambda: listens(metrics), 120)
    return process


def _start(processes: Processes, program: Path, arguments: list[str], environment: dict[str, str]) -> Process:
    own = [f"{name}={value}" for name, value in environment.items()]
    env = Path(shutil.which("env") or "/usr/bin/env")
    return processes.start(env, [*own, str(program), *arguments], name=arguments[0])
