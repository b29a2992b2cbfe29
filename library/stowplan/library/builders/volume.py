"""PersistentVolumeClaims that hold data."""

from collections.abc import Mapping
from typing import Any

from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Manifest
from stowplan.library.values import labels

_KEPT = {labels.SYNC_OPTIONS: labels.KEEP, labels.COMPARE_OPTIONS: labels.IGNORE_EXTRANEOUS}
_REMOVED = {labels.SYNC_OPTIONS: labels.REMOVE}


def head(origin: Origin, *, keep: bool, extra_labels: Mapping[str, str] | None = None) -> Head:
    """Return the head of volumes and claims. Argo CD does not delete them when the spec is removed, if `keep`."""
    return Head(origin, "volume", extra_labels or {}, _KEPT if keep else _REMOVED)


def claim_from_template(name: str, origin: Origin, template: Mapping[str, Any], *, keep: bool = True) -> Manifest:
    """Return a claim from a user's template (`metadata` and `spec` of a claim), with Stowplan's labels added.

    Of its `metadata` only labels and annotations count. Argo CD does not delete the claim when the spec is removed,
    unless `keep` is false.
    """
    given = template.get("metadata") or {}
    own = {key: value for key, value in (given.get("labels") or {}).items() if not labels.is_reserved(key)}
    ours = head(origin, keep=keep, extra_labels=own)
    ours = ours._replace(annotations={**(given.get("annotations") or {}), **ours.annotations})
    spec = {"volumeMode": "Filesystem", **(template.get("spec") or {})}
    return manifest("PersistentVolumeClaim", name, ours, spec=spec)
