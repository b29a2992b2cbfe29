"""Claims on the disk of one node: a folder that the tests see too."""

from pathlib import Path

from tests.cluster.client import Manifest, ref
from tests.nightly.node.machine import Machine

_CLASS = "local"
_MODES = ["ReadWriteMany"]
_SIZE = {"storage": "1Gi"}


def template() -> Manifest:
    """What specs say of such a claim."""
    return {"spec": {"accessModes": _MODES, "storageClassName": _CLASS, "resources": {"requests": _SIZE}}}


def volume(node: Machine, namespace: str, name: str) -> Path:
    """Make the volume of a claim, which may come later; gives its folder."""
    own = f"{namespace}-{name}"
    path = f"/var/lib/claims/{own}"
    folder = node.seen(path)
    folder.mkdir(parents=True)
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node.name]}]}
    spec = {
        "capacity": _SIZE,
        "accessModes": _MODES,
        "storageClassName": _CLASS,
        "local": {"path": path},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        "claimRef": {"namespace": namespace, "name": name},
    }
    node.cluster.admin.create({**ref("v1", "PersistentVolume", own), "spec": spec})
    return folder
