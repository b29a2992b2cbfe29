"""PersistentVolume and PersistentVolumeClaim of a dataset, bound to each other by name."""

from collections.abc import Mapping, Sequence
from typing import Any

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels

CAPACITY = "10Pi"
"""Capacity that the old operator wrote. A static CSI volume has no quota, but claim and volume need the same one."""

_KEPT = {labels.SYNC_OPTIONS: labels.KEEP, labels.COMPARE_OPTIONS: labels.IGNORE_EXTRANEOUS}
_REMOVED = {labels.SYNC_OPTIONS: labels.REMOVE}
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
    keep: bool = True,
) -> Manifest:
    """Return a static volume that only `claim` in the spec's namespace can bind. Its data outlive it (`Retain`).

    `csi` is the field `spec.csi`, which names the CSI driver.
    Argo CD deletes the object, though never data, with its spec if `keep` is false.
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
    meta = metadata(
        "PersistentVolume", name, origin, _COMPONENT, extra_labels=extra_labels, annotations=_notes(keep=keep)
    )
    return Manifest({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec}, stem=name)


def claim_from_template(name: str, origin: Origin, template: Mapping[str, Any], *, keep: bool = True) -> Manifest:
    """Return a claim from a user's template (`metadata` and `spec` of a claim), with Stowplan's labels added.

    Argo CD does not delete the claim when the spec is removed, unless `keep` is false.
    """
    given = template.get("metadata") or {}
    own = {key: value for key, value in (given.get("labels") or {}).items() if not labels.is_reserved(key)}
    spec = {"volumeMode": "Filesystem", **(template.get("spec") or {})}
    notes = {**(given.get("annotations") or {}), **_notes(keep=keep)}
    return _claim(name, origin, spec, own, notes)


def persistent_volume_claim(
    name: str,
    origin: Origin,
    *,
    volume: str,
    storage_class: str,
    selector: Mapping[str, str] | None,
    extra_labels: Mapping[str, str],
    keep: bool = True,
) -> Manifest:
    """Return the claim on the PersistentVolume named `volume`.

    `selector` is None except for a claim that exists already with a selector, which is immutable.
    Argo CD deletes the claim with its spec if `keep` is false.
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
    return _claim(name, origin, spec, extra_labels, _notes(keep=keep))


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
        annotations=annotations,
    )
    return Manifest({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}, stem=name)


def _notes(*, keep: bool) -> Mapping[str, str]:
    """Return the annotations that say whether Argo CD may delete the object with its spec."""
    return _KEPT if keep else _REMOVED
