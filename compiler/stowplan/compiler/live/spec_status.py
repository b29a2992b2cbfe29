"""Status of one spec in the cluster, in a few words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stowplan.compiler.live.lua import assess
from stowplan.library import health
from stowplan.library.dialects.registry import reading
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId

MISSING, UNKNOWN = "Missing", "Unknown"
WELL = frozenset({"Healthy", "Progressing", "Suspended"})
"""Health values of Argo CD that need no action."""


@dataclass(frozen=True, slots=True)
class SpecStatus:
    """Status of one spec in the cluster. `age_seconds` is the age of its custom resource; None if there is none.

    `health` is a word of Argo CD, from the health script that Argo CD executes too; or Missing or Unknown.
    """

    id: SpecId
    phase: str
    progress: str
    health: str
    reason: str
    age_seconds: int | None

    @property
    def well(self) -> bool:
        return self.health in WELL


def spec_status(spec: SpecId, body: dict[str, Any] | None, now: datetime, waits: str = "") -> SpecStatus:
    """Return the status of a spec. `body` is that of its custom resource; None if the cluster has none.

    `waits` says how to start the run of the spec, if it waits to be started; then its custom resource need not exist.
    """
    if body is None and waits:
        return SpecStatus(spec, "", "", "Suspended", waits, None)
    if body is None:
        return SpecStatus(spec, "", "", MISSING, "It is not in the cluster", None)
    status = body.get("status") or {}
    verdict = _verdict(spec.kind, body)
    return SpecStatus(
        spec,
        str(status.get("phase") or ""),
        _progress(spec.kind, body),
        verdict["status"],
        " ".join(part for part in (verdict["message"], waits) if part),
        _age(body, now),
    )


def _verdict(kind: str, body: dict[str, Any]) -> dict[str, str]:
    script = health.scripts().get(f"{KINDS[kind].group}_{kind}")
    try:
        return assess(script, body) if script else {"status": UNKNOWN, "message": ""}
    except Exception as error:
        return {"status": UNKNOWN, "message": f"The status cannot be judged: {type(error).__name__}"}


def _progress(kind: str, body: dict[str, Any]) -> str:
    """Return the progress in words, such as `2Gi of 3Gi cached`; empty if it is not known."""
    progress = reading(kind).progress
    if progress is not None:
        return progress(body)
    status = body.get("status") or {}
    return str(status.get("progress") or status.get("trainers") or status.get("state") or "")


def _age(body: Mapping[str, Any], now: datetime) -> int | None:
    created = (body.get("metadata") or {}).get("creationTimestamp")
    if not isinstance(created, str):
        return None
    return max(0, int((now - datetime.fromisoformat(created.replace("Z", "+00:00")).astimezone(UTC)).total_seconds()))
