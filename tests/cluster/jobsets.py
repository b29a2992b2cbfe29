"""The JobSet controller with its webhooks, run next to the control plane."""

import base64
import json
import shutil
from pathlib import Path
from typing import Any

from tests.cluster.client import Manifest
from tests.cluster.control_plane import Cluster
from tests.cluster.processes import free_port, listens
from tests.cluster.shared import engine_crd
from tests.cluster.sync import establish

_OF_A_JOBSET = {"matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]}
_JOBSETS = ("jobset.x-k8s.io", "v1alpha2", "jobsets")
_PODS = ("", "v1", "pods")


def start(cluster: Cluster, program: Path) -> None:
    """Bring the CRD, run the controller and register its webhooks.

    The webhooks are those of JobSet v0.12 `config/components/webhook`, reached by URL instead of a Service.
    """
    establish(cluster.admin, engine_crd("jobset.x-k8s.io", "JobSet"))
    port = free_port()
    folder = cluster.processes.logs / "jobset"
    folder.mkdir()
    authority = cluster.trust.authority
    pair = authority.issue("jobset-webhook")
    shutil.copy(pair.certificate, folder / "tls.crt")
    shutil.copy(pair.key, folder / "tls.key")
    config = folder / "config.json"
    config.write_text(json.dumps(_configuration(port, folder)), encoding="utf-8")
    arguments = [f"--kubeconfig={cluster.kubeconfig}", f"--config={config}"]
    process = cluster.processes.start(program, arguments)
    process.await_ready(lambda: listens(port), 30)
    for manifest in _webhooks(port, authority.certificate):
        cluster.admin.apply(manifest)


def _configuration(port: int, folder: Path) -> Manifest:
    return {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(folder)},
    }


def _webhooks(port: int, authority: Path) -> list[Manifest]:
    bundle = base64.b64encode(authority.read_bytes()).decode()

    def hook(verb: str, resource: tuple[str, str, str], path: str, operations: list[str]) -> dict[str, Any]:
        group, version, plural = resource
        return {
            "name": f"{verb}-{plural}.jobset.x-k8s.io",
            "clientConfig": {"url": f"https://127.0.0.1:{port}/{verb}-{path}", "caBundle": bundle},
            "rules": [
                {
                    "apiGroups": [group],
                    "apiVersions": [version],
                    "operations": operations,
                    "resources": [plural],
                }
            ],
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
        }

    def configuration(kind: str, verb: str, operations: list[str]) -> Manifest:
        jobsets = hook(verb, _JOBSETS, "jobset-x-k8s-io-v1alpha2-jobset", operations)
        pods = hook(verb, _PODS, "-v1-pod", ["CREATE"]) | {"objectSelector": _OF_A_JOBSET}
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": "jobset"},
            "webhooks": [jobsets, pods],
        }

    return [
        configuration("MutatingWebhookConfiguration", "mutate", ["CREATE"]),
        configuration("ValidatingWebhookConfiguration", "validate", ["CREATE", "UPDATE"]),
    ]
