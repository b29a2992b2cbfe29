"""Kueue with its webhooks, run next to a control plane of its own.

Its certificates, webhooks and CRDs are those of `config/default` of its module: Kueue makes the certificates and writes
their authority into the webhooks. Only the way to it is another: a Service of type ExternalName.
"""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.client import Client, Manifest, ref, wait_for
from tests.cluster.control_plane import Cluster
from tests.cluster.processes import Process, free_port, listens
from tests.cluster.sync import establish
from tests.cluster.tools import KUEUE

API = "kueue.x-k8s.io/v1beta2"
_CRDS, _WEBHOOKS = KUEUE.files
_HOME, _SERVICE, _SECRET = "kueue-system", "kueue-webhook-service", "kueue-webhook-server-cert"
_CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
"""The CRDs with a conversion webhook (`config/components/crd/kustomization.yaml`)."""
_GROUPS = ("batch", "jobset.x-k8s.io", "kueue.x-k8s.io")
"""Whose objects its webhooks judge here; it would also judge pods, Deployments and jobs of other controllers."""
_HALF_AN_HOUR = "30m"
"""How long Kueue 0.19 waits by default for the pods of what it admitted (apis/config/v1beta2/defaults.go)."""


@dataclass
class Kueue:
    """A running Kueue."""

    cluster: Cluster
    process: Process
    port: int
    configuration: Path

    @contextmanager
    def patience(self, timeout: str) -> Iterator[None]:
        """Until the block ends Kueue waits only so long for the pods of what it admitted, such as `5s`."""
        try:
            self._again(timeout)
            yield
        finally:
            self._again(_HALF_AN_HOUR)

    def _again(self, timeout: str) -> None:
        self.configuration.write_text(json.dumps(_configuration(self.port, self.configuration.parent, timeout)))
        self.process = self.cluster.processes.restart(self.process)
        self.process.await_ready(lambda: listens(self.port), 60)


def start(cluster: Cluster, program: Path) -> Kueue:
    """Run Kueue, whose module's files lie beside the program, and register its CRDs and webhooks.

    The CRD of JobSets must be served already.
    """
    admin, port = cluster.admin, free_port()
    folder = cluster.processes.logs / "kueue"
    folder.mkdir()
    for manifest in _way(port):
        admin.apply(manifest)
    for path in sorted((program.parent / _CRDS).iterdir()):
        establish(admin, _converted(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader), port))
    for manifest in _webhooks(program.parent / _WEBHOOKS, port):
        admin.apply(manifest)
    configuration = folder / "config.json"
    configuration.write_text(json.dumps(_configuration(port, folder, _HALF_AN_HOUR)), encoding="utf-8")
    arguments = [f"--kubeconfig={cluster.kubeconfig}", f"--config={configuration}"]
    process = cluster.processes.start(program, arguments)
    _mount(admin, folder)
    process.await_ready(lambda: listens(port), 60)
    return Kueue(cluster, process, port, configuration)


def _configuration(port: int, folder: Path, timeout: str) -> Manifest:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": _HOME,
        "leaderElection": {"leaderElect": False},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(folder)},
        "integrations": {"frameworks": ["batch/job", "jobset.x-k8s.io/jobset"]},
        "waitForPodsReady": {"timeout": timeout, "requeuingStrategy": {"backoffBaseSeconds": 1}},
        # A server of its own, which shows what waits in queues.
        "featureGates": {"VisibilityOnDemand": False},
    }


def _way(port: int) -> list[Manifest]:
    """The server asks a webhook's Service; the kubelet would put the Secret into Kueue's pod."""
    service = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}
    return [
        ref("v1", "Namespace", _HOME),
        {**ref("v1", "Service", _SERVICE, _HOME), "spec": service},
        ref("v1", "Secret", _SECRET, _HOME),
    ]


def _client_config(path: str, port: int) -> Manifest:
    return {"service": {"namespace": _HOME, "name": _SERVICE, "path": path, "port": port}}


def _converted(crd: Manifest, port: int) -> Manifest:
    if crd["spec"]["names"]["plural"] in _CONVERTED:
        webhook = {"clientConfig": _client_config("/convert", port), "conversionReviewVersions": ["v1"]}
        crd["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    return crd


def _webhooks(path: Path, port: int) -> list[Manifest]:
    """With the names that `config/default` gives them, by which Kueue finds them."""
    found = []
    for manifest in yaml.load_all(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader):
        hooks = [each for each in manifest["webhooks"] if each["rules"][0]["apiGroups"][0] in _GROUPS]
        for hook in hooks:
            hook["clientConfig"] = _client_config(hook["clientConfig"]["service"]["path"], port)
        metadata = {"name": f"kueue-{manifest['metadata']['name']}"}
        found.append({**manifest, "metadata": metadata, "webhooks": hooks})
    return found


def _mount(admin: Client, folder: Path) -> None:
    """Put the certificates that Kueue wrote into its Secret where it looks for them, as the kubelet does."""
    data: dict[str, Any] = wait_for(
        lambda: admin.get(ref("v1", "Secret", _SECRET, _HOME)).get("data"), what="Kueue's certificates"
    )
    for name in ("tls.key", "tls.crt"):
        (folder / f".{name}").write_bytes(base64.b64decode(data[name]))
        shutil.move(folder / f".{name}", folder / name)
