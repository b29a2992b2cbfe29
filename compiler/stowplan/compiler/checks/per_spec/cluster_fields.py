"""Does an object hold fields that only the cluster or Argo CD may write?"""

from collections.abc import Iterator
from typing import Any

from stowplan.compiler.checks.objects.finding import ObjectFinding, about
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.schema.diagnostics import Anchor, FieldPath
from stowplan.schema.legacy import LAST_APPLIED, SET_BY_CLUSTER

_CODE = "SP531"
_ANNOTATIONS = (
    "argocd.argoproj.io/installation-id",
    "argocd.argoproj.io/tracking-id",
    LAST_APPLIED,
)
_INSTANCE = "app.kubernetes.io/instance"
_FREE = frozenset({"openAPIV3Schema"})
"""Names of fields below which nulls are allowed."""


def check(objects: Objects) -> list[ObjectFinding]:
    """Return findings about fields that only the cluster or Argo CD may write, and about nulls.

    The fields are `status`, the metadata that the API server of Kubernetes fills in, and the labels and annotations by
    which Argo CD tracks objects. With server-side apply, Argo CD owns each field that is in Git; a null removes the
    value of another writer.
    """
    return [found for obj in objects for found in _check(obj)]


def _check(obj: Object) -> Iterator[ObjectFinding]:
    present: list[FieldPath] = [("status",)] if "status" in obj.body else []
    present += [("metadata", field) for field in SET_BY_CLUSTER if field in obj.metadata]
    present += [("metadata", "annotations", key) for key in _ANNOTATIONS if key in obj.annotations]
    for path in present:
        message = "The field is written by the cluster or by Argo CD, never from Git."
        yield about(obj, _CODE, path, message, "Remove it.", anchor=Anchor.KEY)
    if _INSTANCE in obj.labels:
        message = "Argo CD may track its objects by this label and would take over the object."
        yield about(obj, _CODE, ("metadata", "labels", _INSTANCE), message, "Remove the label.", anchor=Anchor.KEY)
    # Most objects hold no null; a search in their JSON is ten times faster than a walk through their fields.
    for path in _nulls(obj.body, ()) if b"null" in obj.json else ():
        if path not in present:
            yield about(obj, _CODE, path, "The field is null; a manifest holds no nulls.", "Remove the field.")


def _nulls(node: Any, path: FieldPath) -> Iterator[FieldPath]:
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in pairs:
        if value is None:
            yield (*path, key)
        elif isinstance(value, dict | list) and value and key not in _FREE:
            yield from _nulls(value, (*path, key))
