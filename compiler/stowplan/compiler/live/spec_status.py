"""Status of one spec in the cluster, in a few words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from stowplan.compiler.live.lua import assess
from stowplan.library import health
from stowplan.schema.kinds.conditions import TASK_FIELDS
from stowplan.schema.kinds.native.dataset_task import TASKS
from stowplan.schema.kinds.table import DATASET_KINDS, KINDS
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
    script = health.scripts().get(f"{KINDS[kind].group()}_{kind}")
    try:
        return assess(script, body) if script else {"status": UNKNOWN, "message": ""}
    except Exception as error:
        return {"status": UNKNOWN, "message": f"The status cannot be judged: {type(error).__name__}"}


def _progress(kind: str, body: Mapping[str, Any]) -> str:
    """Return the progress in words, such as `2Gi of 3Gi cached`; empty if it is not known.

    Each kind has its own fields for it in the status. `body` is the custom resource.
    """
    status = body.get("status") or {}
    if kind in DATASET_KINDS:
        sizes = status.get("cacheStatus") or {}
        cached, total = sizes.get("cachedSize"), sizes.get("totalSize")
        return f"{cached} of {total} cached" if cached and total else ""
    if kind in TASK_FIELDS:
        spec = body.get("spec") or {}
        task = spec.get("type") or next((word for field, word in TASKS.items() if field in spec), "")
        # A warmup may follow a sync.
        return _attempts([each for each in status.get("attempts") or [] if each.get("task") == task])
    if kind == "PaddleJob":
        roles = ((role, _pods(status.get(role) or {})) for role in ("ps", "worker", "heter"))
        return "; ".join(f"{role}: {pods}" for role, pods in roles if pods)
    if kind == "Training":
        ready, restarts = status.get("nodesReady"), status.get("restarts")
        return f"{ready} nodes ready{f', {restarts} restarts' if restarts else ''}" if ready else ""
    return str(status.get("progress") or status.get("trainers") or status.get("state") or "")


def _pods(counts: Mapping[str, Any]) -> str:
    """Return counts such as `2 running, 1 failed`. A finished or deleted pod does not count as running."""
    words = ("pending", "starting", "running", "succeeded", "failed", "unknown")
    return ", ".join(f"{counts[word]} {word}" for word in words if counts.get(word))


def _attempts(attempts: list[Mapping[str, Any]]) -> str:
    done, total = (sum(int(each.get(key) or 0) for each in attempts) for key in ("files", "totalFiles"))
    return f"{done:,} of {total:,} files" if total else ""


def _age(body: Mapping[str, Any], now: datetime) -> int | None:
    created = (body.get("metadata") or {}).get("creationTimestamp")
    if not isinstance(created, str):
        return None
    return max(0, int((now - datetime.fromisoformat(created.replace("Z", "+00:00")).astimezone(UTC)).total_seconds()))
