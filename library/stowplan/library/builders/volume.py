"""PersistentVolume and PersistentVolumeClaim of a dataset, bound to each other by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels

CAPACITY = "10Pi"
"""Capacity that the old operator wrote. A static CSI volume has no quota, but claim and volume need the same one."""

_ANNOTATIONS = {labels.SYNC_OPTIONS: labels.KEEP, labels.COMPARE_OPTIONS: labels.IGNORE_EXTRANEOUS}
_COMPONENT = "volume"


def persistent_volume(
    name: str,
    origin: Origin,
    *,
    claim: str,
    storage_class: str,
    csi: Mapping[str, Any],
    mount_options: Sequence[str],
    extra_labels: Mapping[str, str],
) -> Manifest:
    """Return a static volume that only `claim` in the spec's namespace can bind. Its data outlive it (`Retain`).

    `csi` is the field `spec.csi`, which names the CSI driver.
    Mount options are in `spec.mountOptions`, which is mutable, and not in the CSI attributes, which are immutable.
    """
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteMany"],
        "capacity": {"storage": CAPACITY},
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "name": claim,
            "namespace": origin.spec.namespace,
        },
        "csi": dict(csi),
        "mountOptions": list(mount_options),
        "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": storage_class,
        "volumeMode": "Filesystem",
    }
    meta = metadata("PersistentVolume", name, origin, _COMPONENT, extra_labels=extra_labels, annotations=_ANNOTATIONS)
    return Manifest({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec}, stem=name)


def claim_from_template(name: str, origin: Origin, template: Mapping[str, Any]) -> Manifest:
    """Return a claim from a user's template (`metadata` and `spec` of a claim), with Stowplan's labels added.

    Argo CD does not delete the claim when the spec is removed.
    """
    given = template.get("metadata") or {}
    own = {key: value for key, value in (given.get("labels") or {}).items() if not labels.is_reserved(key)}
    spec = {"volumeMode": "Filesystem", **(template.get("spec") or {})}
    return _claim(name, origin, spec, own, given.get("annotations") or {})


def persistent_volume_claim(
    name: str,
    origin: Origin,
    *,
    volume: str,
    storage_class: str,
    selector: Mapping[str, str] | None,
    extra_labels: Mapping[str, str],
) -> Manifest:
    """Return the claim on the PersistentVolume named `volume`.

    `selector` is None except for a claim that exists already with a selector, which is immutable.
    """
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": CAPACITY}},
        "storageClassName": storage_class,
        "volumeMode": "Filesystem",
        "volumeName": volume,
    }
    if selector:
        spec["selector"] = {"matchLabels": dict(selector)}
    return _claim(name, origin, spec, extra_labels, {})


def _claim(
    name: str, origin: Origin, spec: Json, extra_labels: Mapping[str, str], annotations: Mapping[str, str]
) -> Manifest:
    meta = metadata(
        "PersistentVolumeClaim",
        name,
        origin,
        _COMPONENT,
        namespace=origin.spec.namespace,
        extra_labels=extra_labels,
        annotations={**annotations, **_ANNOTATIONS},
    )
    return Manifest({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}, stem=name)
