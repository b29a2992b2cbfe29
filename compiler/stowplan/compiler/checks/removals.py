"""Did an object that holds data leave the output?"""

from collections.abc import Mapping

from stowplan.compiler.checks.manifests import mapping
from stowplan.compiler.checks.object_finding import ObjectFinding
from stowplan.compiler.checks.objects import Objects
from stowplan.library import labels
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import Finding, Severity, finding
from stowplan.schema.meta import ObjectId, SpecId

_KINDS = frozenset({"PersistentVolume", "PersistentVolumeClaim"})


def check(objects: Objects, previous: Mapping[ObjectId, Json], severity: Severity) -> list[ObjectFinding]:
    """Claims and volumes that were written before and are not any more. Argo CD leaves them in the cluster."""
    return [
        ObjectFinding(gone, _finding(gone, severity), _spec(gone, previous[gone]))
        for gone in sorted(previous)
        if gone.kind in _KINDS and not gone.group and not objects.exists(gone)
    ]


def _finding(gone: ObjectId, severity: Severity) -> Finding:
    message = f"The {gone.kind} is no longer compiled. Argo CD leaves it in the cluster, and the data with it."
    hint = "Bring the spec back, or delete the object by hand once nobody needs the data."
    if severity is Severity.ERROR:
        hint += " To confirm the removal, delete its file from the output."
    return finding("SP541", (), message, hint, severity=severity)


def _spec(gone: ObjectId, body: Json) -> SpecId | None:
    """The spec that the object was compiled from; volumes have no namespace, their claims do."""
    own = mapping(body, "metadata", "labels")
    namespace = gone.namespace or mapping(body, "spec", "claimRef").get("namespace", "")
    if labels.SPEC_KIND not in own or labels.SPEC_NAME not in own:
        return None
    return SpecId(own[labels.SPEC_KIND], namespace, own[labels.SPEC_NAME])
