"""CoreDNS as a pod, under the Service that kubelets name to all pods."""

from pathlib import Path

from tests.cluster import container_image
from tests.cluster.client import Client, Manifest, ref
from tests.nightly.node.configuration import DNS, DOMAIN

IMAGE = "stowplan.test/coredns:1"
NAMESPACE = "kube-system"
NAME = "coredns"
_LABELS = {"k8s-app": "kube-dns"}
_CONFIGURATION = f"""\
.:53 {{
    ready
    errors
    cache 2
    kubernetes {DOMAIN} in-addr.arpa
}}
"""


def write_image(program: Path, target: Path) -> None:
    container_image.write_program(program, target, IMAGE, ["/bin/coredns"])


def apply(client: Client) -> None:
    """Bring everything; `is_ready` says when it answers."""
    for each in _manifests():
        client.apply(each, manager="harness")


def is_ready(client: Client) -> bool:
    live = client.get(ref("apps/v1", "Deployment", NAME, NAMESPACE))
    return bool(live.get("status", {}).get("readyReplicas"))


def _manifests() -> list[Manifest]:
    reads = {
        "apiGroups": [""],
        "resources": ["endpoints", "services", "pods", "namespaces"],
        "verbs": ["list", "watch"],
    }
    slices = {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["list", "watch"]}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "coredns"}
    account = {"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}
    ports = [{"name": name, "port": 53, "protocol": name.upper()} for name in ("udp", "tcp")]
    return [
        ref("v1", "ServiceAccount", NAME, NAMESPACE),
        {**ref("rbac.authorization.k8s.io/v1", "ClusterRole", NAME), "rules": [reads, slices]},
        {**ref("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", NAME), "roleRef": role, "subjects": [account]},
        {**ref("v1", "ConfigMap", NAME, NAMESPACE), "data": {"Corefile": _CONFIGURATION}},
        {
            **ref("v1", "Service", "kube-dns", NAMESPACE),
            "spec": {"clusterIP": DNS, "selector": _LABELS, "ports": ports},
        },
        {
            **ref("apps/v1", "Deployment", NAME, NAMESPACE),
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": _LABELS},
                "template": {"metadata": {"labels": _LABELS}, "spec": _pod()},
            },
        },
    ]


def _pod() -> Manifest:
    container = {
        "name": "coredns",
        "image": IMAGE,
        "args": ["-conf", "/etc/coredns/Corefile"],
        "volumeMounts": [{"name": "config", "mountPath": "/etc/coredns"}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": 8181}, "periodSeconds": 1},
    }
    return {
        "serviceAccountName": NAME,
        "dnsPolicy": "Default",
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": NAME}}],
    }
