"""Whether a Job or a JobSet is closed, and the change that opens it. It uses neither clock nor network."""

from enum import Enum

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.cluster.conditions import true_conditions
from stowplan.schema.agents.field_managers import ARGO_CD
from stowplan.schema.agents.gate_config import ADMISSION_GATE, ADMISSION_GATE_NAME, OPENED


class WorkloadState(Enum):
    """State of a Job or JobSet."""

    ABSENT = "absent"
    CLOSED = "closed"
    OPEN = "open"
    HELD = "suspended by somebody else"


_OVER = frozenset({"Complete", "Completed", "Failed"})
"""Conditions of Jobs and JobSets that have ended."""


def state_of(found: Manifest | None, *, admission: bool) -> WorkloadState:
    """Return the state of a Job or JobSet; None stands for one that does not exist.

    With `admission` Kueue holds it back by an annotation. Otherwise it is suspended: as it was compiled, or because
    Argo CD applied that once more after a gate had opened it. A suspension by anybody else is respected: `HELD`. One
    that is not suspended, or has ended, is `OPEN`.
    """
    if found is None:
        return WorkloadState.ABSENT
    notes = found["metadata"].get("annotations") or {}
    if admission:
        return WorkloadState.CLOSED if ADMISSION_GATE_NAME in _names(notes) else WorkloadState.OPEN
    if _OVER & true_conditions(found).keys():
        return WorkloadState.OPEN
    if not (found.get("spec") or {}).get("suspend"):
        return WorkloadState.OPEN
    owners = {
        str(each.get("manager"))
        for each in found["metadata"].get("managedFields") or ()
        if "f:suspend" in ((each.get("fieldsV1") or {}).get("f:spec") or {})
    }
    ours = OPENED not in notes or owners == {ARGO_CD}
    return WorkloadState.CLOSED if ours else WorkloadState.HELD


def opening(found: Manifest, now: str, *, admission: bool) -> Manifest:
    """Return the merge patch that opens a closed Job or JobSet.

    The API server refuses it if the object is another one, or has changed. `now` is the time in RFC 3339. With
    `admission` Kueue holds the object back by an annotation; otherwise it is suspended.
    """
    metadata = found["metadata"]
    annotations: Manifest = {OPENED: now}
    patch: Manifest = {
        "metadata": {
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
            "annotations": annotations,
        }
    }
    if not admission:
        return {**patch, "spec": {"suspend": False}}
    others = [name for name in _names(metadata.get("annotations") or {}) if name != ADMISSION_GATE_NAME]
    annotations[ADMISSION_GATE] = ",".join(others) or None
    return patch


def _names(notes: Manifest) -> list[str]:
    return [name.strip() for name in str(notes.get(ADMISSION_GATE) or "").split(",") if name.strip()]
