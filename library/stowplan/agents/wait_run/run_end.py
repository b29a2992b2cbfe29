"""The end of a training run, from its Job or JobSet."""

import asyncio
from dataclasses import dataclass
from time import monotonic

from stowplan.agents.cluster.answers import Manifest, Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.following import Deleted, Live, Missing, follow
from stowplan.agents.cluster.place import ObjectAddress
from stowplan.agents.runtime.log import Log

PATIENCE = 600.0
"""Seconds for which the right to read the run may be missing: somebody may be about to give it."""

_NO_RIGHT = frozenset({401, 403})
_ENDS = {"Complete": True, "Completed": True, "Failed": False}
"""Conditions of a Job and of a JobSet that end a run, and whether it succeeded."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended. `message` says why it failed; empty if it succeeded."""

    succeeded: bool
    message: str = ""


class NoRightError(Exception):
    """The right to read the run was missing for `PATIENCE` seconds. The message is that of the server."""


def end_of(run: Manifest) -> RunEnd | None:
    """Return how the Job or JobSet with this manifest ended; None if it has not, or is suspended."""
    for condition in (run.get("status") or {}).get("conditions") or ():
        succeeded = _ENDS.get(condition.get("type"))
        if succeeded is not None and condition.get("status") == "True":
            parts = (str(condition.get(key) or "") for key in ("reason", "message"))
            return RunEnd(succeeded, "" if succeeded else ": ".join(filter(None, parts)))
    return None


async def wait(client: Client, place: ObjectAddress, log: Log) -> RunEnd:
    """Wait until the run has ended, whatever it does before: it may not exist yet, be suspended, or be made again.

    Raises NoRightError.
    """
    refused_since: float | None = None
    async for news in follow(client, place):
        match news:
            case Live(manifest):
                refused_since = None
                if end := end_of(manifest):
                    return end
            case Deleted() | Missing():
                refused_since = None
            case Refused(status=status) if status in _NO_RIGHT:
                refused_since = monotonic() if refused_since is None else refused_since
                log.warning("Cannot read the run: trying again", error=str(news))
                if monotonic() - refused_since >= PATIENCE:
                    raise NoRightError(str(news))
            case Refused() | Unreachable():
                log.warning("Cannot read the run: trying again", error=str(news))
    # `follow` has no end but that of its task.
    raise asyncio.CancelledError
