"""Volumes, claims and their classes."""

from tests.cluster.client import Manifest
from tests.cluster.edits import METADATA, Row, changes, refused, stays
from tests.unit.compiler.checks.given import GONE, body, changed, claim, volume

_API = "storage.k8s.io/v1"
_GROWING = "cells-growing"
"""A class whose claims may grow."""
_NOWHERE = "cells-nowhere"
"""A class that does not exist."""

_BY_CLASS = "Whether a class lets its claims grow stands in the cluster."
_BOUND = "Whether a claim is bound stands in the cluster."
_SOURCE = "This one part of the source may be given where there was none; no volume of ours needs it."

_REFERENCE = {"name": "a", "namespace": "ml"}
_SELECTOR = {"matchLabels": {"app": "a"}}
_CSI = {
    "driver": "csi.example.com",
    "fsType": "juicefs",
    "nodePublishSecretRef": _REFERENCE,
    "volumeHandle": "ml.bound",
}


def _nodes(label: str) -> Manifest:
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": label, "operator": "Exists"}]}]}}


def _bound(name: str, claimed_by: str, **spec: object) -> Manifest:
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": claimed_by, "namespace": "ml"}
    return volume(name, claimRef=reference, **spec)


def _cluster(kind: str, name: str = "cells", **fields: object) -> Manifest:
    return body(kind, name, api=_API, namespace="", **fields)


ROWS = {
    "PersistentVolume": Row(
        _bound("ml.bound", "bound", csi=_CSI, mountOptions=["cache-size=1"]),
        [
            *METADATA,
            changes("spec.accessModes", to=["ReadOnlyMany"]),
            changes("spec.capacity.storage", to="20Pi"),
            changes("spec.claimRef.name", to="other"),
            changes("spec.csi.controllerExpandSecretRef", to=_REFERENCE, because=_SOURCE),
            refused("spec.csi.controllerPublishSecretRef", to=_REFERENCE),
            refused("spec.csi.driver", to="other.example.com"),
            refused("spec.csi.fsType", to="ext4"),
            refused("spec.csi.nodeExpandSecretRef", to=_REFERENCE),
            refused("spec.csi.nodePublishSecretRef.name", to="b"),
            refused("spec.csi.nodeStageSecretRef", to=_REFERENCE),
            refused("spec.csi.readOnly", to=True),
            refused("spec.csi.volumeAttributes", to={"a": "b"}),
            refused("spec.csi.volumeHandle", to="other"),
            changes("spec.mountOptions", to=["cache-size=2"]),
            changes("spec.mountOptions"),
            changes("spec.nodeAffinity", to=_nodes("a")),
            changes("spec.persistentVolumeReclaimPolicy", to="Delete"),
            changes("spec.storageClassName", to="other"),
            changes("spec.volumeAttributesClassName", to="fast"),
            refused("spec.volumeMode", to="Block"),
            stays("spec.volumeMode", to="Filesystem"),
        ],
        until="spec.claimRef.uid",
    ),
    "PersistentVolume on some nodes": Row(
        _bound("ml.placed", "nobody", nodeAffinity=_nodes("a")),
        [refused("spec.nodeAffinity", to=_nodes("b")), refused("spec.nodeAffinity")],
    ),
    "PersistentVolumeClaim": Row(
        claim("bound", volumeName="ml.bound"),
        [
            *METADATA,
            refused("spec.accessModes", to=["ReadOnlyMany"]),
            refused("spec.dataSource", to={"kind": "PersistentVolumeClaim", "name": "a"}),
            refused("spec.dataSourceRef", to={"kind": "PersistentVolumeClaim", "name": "a"}),
            refused("spec.resources.limits", to={"storage": "20Pi"}),
            refused("spec.resources.requests.storage", to="20Pi"),
            refused("spec.resources.requests.storage", to="5Pi"),
            refused("spec.selector", to=_SELECTOR),
            refused("spec.storageClassName", to="other"),
            changes("spec.volumeAttributesClassName", to="fast"),
            refused("spec.volumeMode", to="Block"),
            stays("spec.volumeMode", to="Filesystem"),
            refused("spec.volumeName", to="other"),
            refused("spec.volumeName"),
        ],
        until="status.capacity",
    ),
    "PersistentVolumeClaim that waits": Row(
        changed(claim("waiting", storageClassName=_NOWHERE, volumeAttributesClassName="fast"), "spec.volumeName", GONE),
        [
            *METADATA,
            refused("spec.accessModes", to=["ReadOnlyMany"]),
            refused("spec.resources.limits", to={"storage": "20Pi"}),
            refused("spec.resources.requests.storage", to="20Pi", because=_BY_CLASS),
            refused("spec.resources.requests.storage", to="5Pi"),
            refused("spec.selector", to=_SELECTOR),
            refused("spec.storageClassName", to="other"),
            refused("spec.volumeAttributesClassName", to="slow", because=_BOUND),
            refused("spec.volumeMode", to="Block"),
            changes("spec.volumeName", to="ml.bound", because=_BOUND),
        ],
    ),
    "PersistentVolumeClaim that grows": Row(
        claim("growing", storageClassName=_GROWING, volumeName="ml.growing"),
        [
            changes("spec.resources.requests.storage", to="20Pi"),
            refused("spec.resources.requests.storage", to="5Pi"),
            refused("spec.storageClassName", to="other"),
        ],
        until="status.capacity",
        companions=[
            _cluster("StorageClass", _GROWING, provisioner="csi.example.com", allowVolumeExpansion=True),
            _bound("ml.growing", "growing", storageClassName=_GROWING),
        ],
    ),
    "StorageClass": Row(
        _cluster("StorageClass", provisioner="csi.example.com", reclaimPolicy="Retain"),
        [
            *METADATA,
            changes("allowVolumeExpansion", to=True),
            changes("allowedTopologies", to=[{"matchLabelExpressions": [{"key": "a", "values": ["b"]}]}]),
            changes("mountOptions", to=["a"]),
            refused("parameters", to={"a": "b"}),
            refused("provisioner", to="other.example.com"),
            refused("reclaimPolicy", to="Delete"),
            refused("reclaimPolicy"),
            stays("volumeBindingMode", to="Immediate"),
            refused("volumeBindingMode", to="WaitForFirstConsumer"),
        ],
    ),
    "VolumeAttributesClass": Row(
        _cluster("VolumeAttributesClass", driverName="a.example", parameters={"a": "b"}),
        [*METADATA, refused("driverName", to="b.example"), refused("parameters.a", to="c")],
    ),
    "CSIDriver": Row(
        _cluster("CSIDriver", "cells.example.com", spec={"attachRequired": False}),
        [
            *METADATA,
            refused("spec.attachRequired", to=True),
            changes("spec.podInfoOnMount", to=True),
            changes("spec.requiresRepublish", to=True),
        ],
    ),
}
