"""Which Jobs and JobSets are closed, and the change that opens them."""

from typing import Any

import pytest

from stowplan.agents.gate.workload import WorkloadState, opening, state_of

ARGO_CD, KUBECTL = "argocd-controller", "kubectl"


def job(*suspenders: str, opened: bool = False, suspend: bool = True, ended: str = "", gates: str = "") -> Any:
    notes = {"stowplan.dev/opened": "2026-01-01T00:00:00Z"} if opened else {}
    notes |= {"kueue.x-k8s.io/admission-gated-by": gates} if gates else {}
    managed = [{"manager": each, "fieldsV1": {"f:spec": {"f:suspend": {}}}} for each in suspenders]
    conditions = [{"type": ended, "status": "True"}] if ended else []
    metadata = {"uid": "u", "resourceVersion": "7", "annotations": notes, "managedFields": managed}
    return {"metadata": metadata, "spec": {"suspend": suspend}, "status": {"conditions": conditions}}


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (None, WorkloadState.ABSENT),
        (job(KUBECTL), WorkloadState.CLOSED),
        (job(suspend=False), WorkloadState.OPEN),
        (job(ARGO_CD, opened=True), WorkloadState.CLOSED),
        (job(KUBECTL, opened=True), WorkloadState.HELD),
        (job(ARGO_CD, KUBECTL, opened=True), WorkloadState.HELD),
        (job(opened=True), WorkloadState.HELD),
        (job(ARGO_CD, ended="Complete"), WorkloadState.OPEN),
        (job(ARGO_CD, ended="Failed"), WorkloadState.OPEN),
    ],
)
def test_suspended(found: Any, expected: WorkloadState) -> None:
    assert state_of(found, admission=False) is expected


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        ("", WorkloadState.OPEN),
        ("stowplan.dev/gate", WorkloadState.CLOSED),
        ("a/b, stowplan.dev/gate", WorkloadState.CLOSED),
        ("a/b", WorkloadState.OPEN),
    ],
)
def test_admission_gates(gates: str, expected: WorkloadState) -> None:
    """Kueue suspends the Job until it admits it, which is none of the gate's business."""
    assert state_of(job(gates=gates), admission=True) is expected


@pytest.mark.parametrize(("gates", "rest"), [("stowplan.dev/gate", None), ("a/b, stowplan.dev/gate,c/d", "a/b,c/d")])
def test_opening_removes_its_own_admission_gate_alone(gates: str, rest: str | None) -> None:
    notes = opening(job(gates=gates), "now", admission=True)["metadata"]["annotations"]
    assert notes == {"stowplan.dev/opened": "now", "kueue.x-k8s.io/admission-gated-by": rest}


def test_opening_is_for_this_version_of_the_object() -> None:
    assert opening(job(), "now", admission=False) == {
        "metadata": {"uid": "u", "resourceVersion": "7", "annotations": {"stowplan.dev/opened": "now"}},
        "spec": {"suspend": False},
    }
