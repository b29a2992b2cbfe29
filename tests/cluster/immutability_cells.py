"""The table of immutable fields, cell by cell: objects of every kind that is compiled, and an edit of each field."""

from tests.cluster.client import Manifest
from tests.cluster.edits import GONE, RUNNING, Edit, changes, refused, stays
from tests.unit.checks import given

CLASS = "immutability-grows"
"""A StorageClass whose claims may grow."""

_CLUSTER_SCOPED = "cluster"


def _named(manifest: Manifest, name: str) -> Manifest:
    return given.changed(manifest, "metadata.name", name)


def _volume(name: str, claim: str, **spec: object) -> Manifest:
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": claim, "namespace": "ml"}
    return given.volume(name, claimRef=reference, **spec)


def _job(name: str, **spec: object) -> Manifest:
    made = given.job(name, **{"backoffLimit": 6, "completions": 1, "parallelism": 1, **spec})
    return given.changed(made, "spec.template.metadata.annotations", RUNNING)


def _api(kind: str, api: str, *, namespace: str = "ml", **fields: object) -> Manifest:
    return given.body(kind, "a", api=api, namespace=namespace, **fields)


_SELECTOR = {"matchLabels": {"app": "a"}}
_POD_FAILURE_POLICY = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]}
_NODES = {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Exists"}]}]}}

OBJECTS: dict[str, Manifest] = {
    "volume": _volume("ml.bound", "bound", mountOptions=["cache-size=1"]),
    "placed volume": _volume("ml.placed", "nobody", nodeAffinity=_NODES),
}
EDITS: dict[str, list[Edit]] = {}
