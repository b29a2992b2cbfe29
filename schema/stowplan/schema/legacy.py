"""What old documents carry and ours do not: dropped or renamed on reading, each with a finding."""

import copy
from collections.abc import Mapping
from typing import Any

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

SET_BY_CLUSTER = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
)
"""Fields of an object's metadata that only the API server and controllers write."""

_OLD_FINALIZERS = ("paddlepaddle.org/sampleset-", "paddlepaddle.org/samplejob-", "finalizers.paddlepaddle.org")

SPELLINGS: Mapping[str, tuple[tuple[tuple[str, ...], str, str], ...]] = {
    "SampleSet": ((("spec", "csi", "juiceFSMountOptions"), "subdir", "sub-dir"),),
}
"""By kind: the mapping that holds the field, a spelling that is accepted, and the canonical one."""


def modernise(kind: str, document: Mapping[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """A copy of `document` without what only a cluster sets, in canonical spelling, and what was changed."""
    data = copy.deepcopy(dict(document))
    found: list[Finding] = []
    if "status" in data:
        found.append(_dropped(data, (), "status"))
    metadata = data.get("metadata")
    if isinstance(metadata, dict):
        found += [_dropped(metadata, ("metadata",), key) for key in SET_BY_CLUSTER if key in metadata]
        found += _annotations(metadata) + _finalizers(metadata)
    for holder, spelling, canonical in SPELLINGS.get(kind, ()):
        found += _rename(data, holder, spelling, canonical)
    return data, found


def _dropped(holder: dict[str, Any], base: FieldPath, key: str) -> Finding:
    del holder[key]
    message = f'"{key}" is set by the cluster, so it was left out.'
    return finding("SP211", (*base, key), message, "Remove it from the file.", anchor=Anchor.KEY)


def _annotations(metadata: dict[str, Any]) -> list[Finding]:
    annotations = metadata.get("annotations")
    if not isinstance(annotations, dict) or LAST_APPLIED not in annotations:
        return []
    return [_dropped(annotations, ("metadata", "annotations"), LAST_APPLIED)]


def _finalizers(metadata: dict[str, Any]) -> list[Finding]:
    finalizers = metadata.get("finalizers")
    if not isinstance(finalizers, list):
        return []
    old = [(i, f) for i, f in enumerate(finalizers) if isinstance(f, str) and f.startswith(_OLD_FINALIZERS)]
    metadata["finalizers"] = [f for i, f in enumerate(finalizers) if (i, f) not in old]
    if not metadata["finalizers"]:
        del metadata["finalizers"]
    return [
        finding(
            "SP211",
            ("metadata", "finalizers", index),
            f'"{name}" belongs to the old operator, which nobody runs any more, so it was left out.',
            "Remove it here; on a live object, remove it before the old operator goes.",
        )
        for index, name in old
    ]


def _rename(data: dict[str, Any], holder: tuple[str, ...], spelling: str, canonical: str) -> list[Finding]:
    node: Any = data
    for key in holder:
        node = node.get(key) if isinstance(node, dict) else None
    if not isinstance(node, dict) or spelling not in node or canonical in node:
        return []
    node[canonical] = node.pop(spelling)
    message = f'"{spelling}" is read as "{canonical}", its name in this kind.'
    return [finding("SP212", (*holder, spelling), message, "Nothing to do.", anchor=Anchor.KEY)]
