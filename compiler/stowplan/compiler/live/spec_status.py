"""Status of one spec in the cluster, in a few words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import lupa.luajit21 as lua

from stowplan.library import health
from stowplan.library.dialects.registry import reading
from stowplan.schema.kinds.table import KINDS
from stowplan.schema.meta import SpecId

MISSING, UNKNOWN = "Missing", "Unknown"
WELL = frozenset({"Healthy", "Progressing", "Suspended"})
"""Health values of Argo CD that need no action."""

_INSTRUCTIONS = 10_000_000
"""Number of Lua instructions after which a script is stopped: about a second's work, the same on every machine."""

_ALLOWED = (
    "_G",
    "assert",
    "error",
    "ipairs",
    "next",
    "pairs",
    "pcall",
    "select",
    "table",
    "tonumber",
    "tostring",
    "type",
)
_OS = ("clock", "date", "difftime", "time")


@dataclass(frozen=True, slots=True)
class SpecStatus:
    """Status of one spec in the cluster. `age_seconds` is the age of its custom resource; None if there is none.

    `health` is a word of Argo CD, from the health script that Argo CD executes too; or Missing or Unknown. `phase`,
    `progress` and `reason` are texts for people, empty if nothing is known.
    """

    id: SpecId
    phase: str
    progress: str
    health: str
    reason: str
    age_seconds: int | None

    @property
    def well(self) -> bool:
        """Whether nobody needs to act."""
        return self.health in WELL


def spec_status(spec: SpecId, body: dict[str, Any] | None, now: datetime, waits: str = "") -> SpecStatus:
    """Return the status of a spec. `body` is that of its custom resource; None if the cluster has none.

    `now` has a time zone. `waits` says how to start a run that waits for that, and is empty for others; the custom
    resource of the spec need not exist then.
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


def assess(script: str, document: dict[str, Any]) -> dict[str, str]:
    """Return the health of a custom resource by the Lua script `script`: a mapping with `status` and `message`.

    `document` is the body of the resource. Scripts run in the sandbox of Argo CD: Lua 5.1 with goto, without the
    libraries string, math and io, for about one second. Raises `TimeoutError` after that, `LuaError` for a failure.
    """
    runtime = lua.LuaRuntime(register_eval=False, unpack_returned_tuples=False)
    limit = runtime.eval("""function(count) debug.sethook(function() error("instruction limit") end, "", count) end""")
    build = runtime.eval("function(source, env) return setfenv(assert(loadstring(source)), env) end")
    names = runtime.globals()
    env = runtime.table_from({name: names[name] for name in _ALLOWED})
    env["os"] = runtime.table_from({name: names["os"][name] for name in _OS})
    env["_G"] = env
    env["obj"] = runtime.table_from(document, recursive=True)
    run = build(script, env)
    runtime.execute("jit.off()")
    limit(_INSTRUCTIONS)
    try:
        result = run()
    except lua.LuaError as error:
        if "instruction limit" in str(error):
            raise TimeoutError from error
        raise
    return {key: result[key] for key in ("status", "message")}
