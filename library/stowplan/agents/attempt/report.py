"""Reports of an attempt's progress and result to the status of its custom resource.

A failed report never ends the attempt.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stowplan.agents.cluster import access
from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.answers import Manifest, Refused, Unreachable
from stowplan.agents.cluster.backoff import Backoff
from stowplan.agents.cluster.place import resource
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.runtime.timestamp import now
from stowplan.schema.agents.agent_config import StatusTarget
from stowplan.schema.kinds.table import KINDS

if TYPE_CHECKING:
    from stowplan.agents.cluster.client import Client

CHANGE_SECONDS, HEARTBEAT_SECONDS = 10.0, 30.0
"""Minimum seconds between two reports if the status changes, and seconds between two reports if it does not."""

LAST_SECONDS = 4.0
"""Seconds that the program waits for the last report before it ends."""

Status = dict[str, Any]


def no_others(_: Manifest) -> Sequence[tuple[str, Status]]:
    """Return nothing, as `StatusReporter.others` of a process that applies its own fields alone."""
    return ()


def reach(environment: Mapping[str, str], account: Path, log: Log) -> Access | None:
    """Return the access to the API server of Kubernetes, for reports; None outside a pod, for example on a laptop.

    `account` is the directory with the token and the certificate authorities of the pod's ServiceAccount.
    """
    try:
        return access.from_pod(environment, account)
    except SettingsError as error:
        log.info("No reports to a cluster", reason=str(error))
        return None


@dataclass
class StatusReporter:
    """Thread that writes the status of a custom resource by server-side apply.

    It starts when the object is made, and `end` ends it. It writes a changed status no sooner than `CHANGE_SECONDS`
    after the last report, and an unchanged status every `heartbeat_seconds`.
    """

    access: Access
    target: StatusTarget
    """Custom resource whose status is applied."""
    status: Callable[[Manifest | None], Status]
    """Function that returns the status fields to apply, without times. The thread calls it.

    Its argument is the current custom resource, or None if the thread only asks whether the process's own fields
    changed. In the report the field `attempt`, and each entry of the list `attempts`, also gets the time of the report.
    """
    manager: str
    """Field manager under which `status` is applied."""
    log: Log
    others: Callable[[Manifest], Sequence[tuple[str, Status]]] = no_others
    """Function that takes the current custom resource and returns what this process applies in addition to `status`:
    pairs of a field manager and its status fields.
    """
    heartbeat_seconds: float = HEARTBEAT_SECONDS
    probes: bool = False
    """True if each condition also gets the time of the report, as `lastProbeTime`."""
    _ending: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)
    _began: str = field(default_factory=now)
    _since: dict[str, tuple[str, str]] = field(default_factory=dict)
    """For each condition type: the condition's status, and the time at which it got that status."""

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def works(self) -> bool:
        """Return whether the thread is alive. An internal error ends the thread, and with it all reports."""
        return self._thread.is_alive()

    def end(self) -> None:
        """Send a last report, and wait for it at most `LAST_SECONDS`."""
        self._ending.set()
        self._thread.join(LAST_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._report())
        except BaseException as error:
            # While the process ends, the interpreter may refuse to start another thread.
            if not self._ending.is_set():
                self.log.warning("Reports end: a fault of this program", error=repr(error))

    async def _report(self) -> None:
        # Importing the client takes as long as the rest of the program's start, and is of no use outside a cluster.
        from stowplan.agents.cluster.client import Client  # noqa: PLC0415

        backoff, last, at, wait = Backoff(), None, 0.0, 0.0
        async with Client(self.access, self.manager) as client:
            while True:
                ending = await asyncio.to_thread(self._ending.wait, wait)
                status, moment = self.status(None), time.monotonic()
                wait = 1.0
                if not ending and moment - at < (CHANGE_SECONDS if status != last else self.heartbeat_seconds):
                    continue
                if await self._apply(client):
                    last, at = status, moment
                    backoff.reset()
                    if ending:
                        return
                else:
                    # `end` waits only a short time, and the process ends after it, whatever this thread does.
                    wait = backoff.seconds()
                    if ending:
                        await asyncio.sleep(min(wait, 1.0))

    async def _apply(self, client: "Client") -> bool:
        place = resource(self.target.kind, self.target.namespace, self.target.name)
        found = await client.status(place)
        if isinstance(found, Refused | Unreachable):
            # The custom resource may be created after its Job.
            self.log.warning("Cannot read the status to report on: trying again", error=str(found))
            return False
        for manager, status in ((self.manager, self.status(found)), *self.others(found)):
            answer = await client.apply_status(place, self._manifest(found, status), manager)
            if isinstance(answer, Refused | Unreachable):
                self.log.warning("Cannot report: trying again", error=str(answer))
                return False
        return True

    def _manifest(self, found: Manifest, status: Status) -> Manifest:
        complete = {**status, **_stamped(status)}
        if "conditions" in status:
            generation = found["metadata"].get("generation")
            complete["observedGeneration"] = generation
            both = {"observedGeneration": generation, **({"lastProbeTime": now()} if self.probes else {})}
            complete["conditions"] = [
                {**each, "lastTransitionTime": self._transition(each, found), **both} for each in status["conditions"]
            ]
        return {
            "apiVersion": KINDS[self.target.kind].api_version,
            "kind": self.target.kind,
            "metadata": {"name": self.target.name, "namespace": self.target.namespace},
            "status": complete,
        }

    def _transition(self, condition: Status, found: Manifest) -> str:
        """Return the time at which the condition got its present status.

        If `found` already has the condition with this status, for example from an earlier attempt, its time is
        returned.
        """
        kind, status = condition["type"], condition["status"]
        before = self._since.get(kind)
        if before is None or before[0] != status:
            present = (found.get("status") or {}).get("conditions") or ()
            said = (each["lastTransitionTime"] for each in present if (each["type"], each["status"]) == (kind, status))
            self._since[kind] = (status, next(said, now() if before else self._began))
        return self._since[kind][1]


def _stamped(status: Status) -> Status:
    at = {"updatedAt": now()}
    one = {"attempt": {**status["attempt"], **at}} if "attempt" in status else {}
    return one | ({"attempts": [{**each, **at} for each in status["attempts"]]} if "attempts" in status else {})
