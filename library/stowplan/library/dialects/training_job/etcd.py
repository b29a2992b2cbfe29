"""The etcd of a fault-tolerant TrainingJob: a sidecar of the master, or the user's etcd."""

import re
from dataclasses import dataclass

from stowplan.library.builders.pods import agent_pod
from stowplan.library.manifest import Json

ETCD = "etcd"
"""Name of the container, and of its volume."""

ETCD_PORT, _PEER_PORT = 2379, 2380
_RESOURCES = {
    "limits": {"cpu": "1", "memory": "1Gi"},
    "requests": {"cpu": "100m", "memory": "128Mi"},
}
_DATA = "/var/lib/etcd"

_ENDPOINT = re.compile(r"(https?://)?([A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?)(?::([0-9]{1,5}))?/?")


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The user's etcd: `text` is its URLs, joined by commas, for the master's command; `host` is the first host."""

    text: str
    host: str


def endpoints(given: str) -> Endpoints | None:
    """Parse endpoints that are separated by commas, with optional schemes and ports; None if one is invalid."""
    found = [_ENDPOINT.fullmatch(each.strip()) for each in given.split(",")]
    complete = [f"{each[1] or 'http://'}{each[2]}:{each[4] or ETCD_PORT}" for each in found if each]
    return Endpoints(",".join(complete), str(found[0][2])) if found[0] and len(complete) == len(found) else None


def etcd(image: str) -> Json:
    """Return the sidecar container: an etcd with one member, whose data end with the pod. `image` is its image.

    It is ready before the master starts.
    """
    client, peer = f"http://0.0.0.0:{ETCD_PORT}", f"http://127.0.0.1:{_PEER_PORT}"
    return {
        "name": ETCD,
        "image": image,
        "restartPolicy": "Always",
        "command": ["etcd"],
        "args": [
            f"--advertise-client-urls=http://$(POD_IP):{ETCD_PORT}",
            f"--data-dir={_DATA}/data",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=etcd0={peer}",
            "--initial-cluster-state=new",
            f"--listen-client-urls={client}",
            f"--listen-peer-urls={peer}",
            "--name=etcd0",
        ],
        "env": [{"name": "POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}}],
        "ports": [{"name": "etcd-port", "containerPort": ETCD_PORT, "protocol": "TCP"}],
        "resources": _RESOURCES,
        "securityContext": agent_pod.restricted_container(),
        "startupProbe": {"failureThreshold": 60, "periodSeconds": 1, "tcpSocket": {"port": ETCD_PORT}},
        "volumeMounts": [{"mountPath": _DATA, "name": ETCD}],
    }


def etcd_volume() -> Json:
    """Return the pod's volume for the data of the sidecar."""
    return {"name": ETCD, "emptyDir": {"sizeLimit": "2Gi"}}
