"""Wait for the end of the training group, and end the group if its helper is lost."""

import asyncio
from dataclasses import dataclass, field
from time import monotonic

from stowplan.agents.await_group.events import (
    Event,
    Events,
    JobNews,
    JobTrouble,
    PodNews,
    PodTrouble,
    Probe,
    watch_job,
    watch_pod,
    watch_ports,
)
from stowplan.agents.await_group.group import Begun, Doomed, Failed, Group, Succeeded, group
from stowplan.agents.await_group.job_state import JobState
from stowplan.agents.await_group.patience import Patience
from stowplan.agents.await_group.settings import AwaitSettings
from stowplan.agents.cluster.answers import Manifest, Refused, Trouble, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import job
from stowplan.agents.runtime import timestamp
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.await_config import END_AT_ONCE, ENDED_BECAUSE, GROUP_FAILED
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.field_managers import AWAIT

_ENDING: Manifest = {"spec": {"activeDeadlineSeconds": END_AT_ONCE}}
_TRIES, _PAUSE = 5, 1.0
"""Number of requests to end a Job if the server does not answer, and the seconds between them."""


async def attend(settings: AwaitSettings, client: Client, log: Log) -> int:
    """Wait until the outcome of the training group is certain and return the exit code.

    It is 0 if all deciding Jobs are complete, `GROUP_FAILED` if one failed or was deleted, and 3 if an RBAC right was
    missing for too long.
    """
    events: Events = asyncio.Queue()
    log.info("Waiting for the deciding Jobs", jobs=", ".join(settings.jobs), ports=", ".join(map(str, settings.ports)))
    async with asyncio.TaskGroup() as tasks:
        watches = [watch_job(client, settings.namespace, name, events) for name in settings.jobs]
        if settings.ports:
            watches.append(watch_ports(settings, events))
        if settings.helper.container:
            watches.append(watch_pod(settings, client, events))
        running = [tasks.create_task(each) for each in watches]
        code = await Attendance(settings, client, log).until_end(events)
        for task in running:
            task.cancel()
    return code


@dataclass
class Attendance:
    """The wait for one training group: it takes events, acts on them, and ends with an exit code."""

    settings: AwaitSettings
    client: Client
    log: Log
    known: Group = field(init=False)
    """Known state of the group."""
    reading: dict[str, Patience] = field(init=False)
    """Patience with refused reads, by Job."""
    changing: dict[str, Patience] = field(init=False)
    """Patience with refused changes, by Job."""
    looking: Patience = field(default_factory=Patience)
    """Patience with refused reads of the own pod."""
    doomed: set[str] = field(default_factory=set)
    """Jobs whose forced failure has been logged."""

    def __post_init__(self) -> None:
        names = self.settings.jobs
        self.known = group(names, self.settings.helper)
        self.reading = {name: Patience() for name in names}
        self.changing = {name: Patience() for name in names}

    async def until_end(self, events: Events) -> int:
        """Process events until the outcome is certain, and return the exit code, as `attend` does."""
        while True:
            event = await events.get()
            code = self._take(event)
            if code is None:
                code = await self._act(after_look=isinstance(event, Probe | PodNews))
            if code is not None:
                return code

    def _take(self, event: Event) -> int | None:
        """Record one event. Return an exit code if a right to read was missing for too long; otherwise None."""
        match event:
            case JobNews(name, state):
                self.reading[name].lasts(None, monotonic())
                before = self.known.jobs[name]
                self.known = self.known.saw(name, state)
                self._tell(name, before, self.known.jobs[name])
            case Probe(opened, elapsed):
                before_ports = self.known.helper.closed
                self.known = self.known.probed(opened, elapsed, timestamp.now())
                self._tell_ports({port for port, seconds in before_ports.items() if seconds}, opened)
            case PodNews(crash):
                self.looking.lasts(None, monotonic())
                self.known = self.known.crashed(crash)
            case JobTrouble(name, trouble):
                return self._trouble("read", name, trouble, self.reading[name])
            case PodTrouble(trouble):
                return self._pod_trouble(trouble)
        return None

    async def _act(self, *, after_look: bool) -> int | None:
        """Carry out the group's decision. Return the exit code; None to go on waiting.

        Jobs are changed only after a look at ports or pod. So retries have the interval of these looks.
        """
        match self.known.decide():
            case Succeeded():
                self.log.info("All deciding Jobs are complete")
                return ExitCode.DONE
            case Failed(name, reason, others):
                self.log.error("The group failed", job=name, reason=reason)
                for other in others:
                    await self._end(other)
                return GROUP_FAILED
            case Doomed(reason, jobs) if after_look:
                codes = [await self._fail(name, state, reason) for name, state in jobs.items()]
                return next((code for code in codes if code is not None), None)
            case Begun(name, key, value) if after_look:
                return await self._change(name, {"metadata": {"annotations": {key: value}}})
        return None

    async def _fail(self, name: str, state: JobState, reason: str) -> int | None:
        """Make one Job fail by a deadline, because the helper is lost for the reason `reason`.

        The request holds the version of `state`, so a Job that has changed meanwhile (for example, was suspended) is
        not touched. Returns an exit code if the right to change the Job was missing for too long; otherwise None.
        """
        self._tell_doom(name, reason)
        note = {ENDED_BECAUSE: reason}
        return await self._change(
            name, {"metadata": {"annotations": note, "resourceVersion": state.version}, **_ENDING}
        )

    async def _change(self, name: str, changes: Manifest) -> int | None:
        """Change a Job. Return an exit code if the right to do so was missing for too long; otherwise None."""
        match await self.client.merge_patch(job(self.settings.namespace, name), changes, AWAIT):
            case Refused(status=409) | Refused(status=404):
                self.log.info("The Job has changed meanwhile: looking again", job=name)
            case Refused() | Unreachable() as trouble:
                return self._trouble("change", name, trouble, self.changing[name])
            case _:
                self.changing[name].lasts(None, monotonic())
        return None

    async def _end(self, name: str) -> None:
        """End a Job of a failed group by a deadline, whatever its version, since the group has failed in any case."""
        for _ in range(_TRIES):
            answer = await self.client.merge_patch(job(self.settings.namespace, name), _ENDING, AWAIT)
            match answer:
                case Unreachable():
                    await asyncio.sleep(_PAUSE)
                case Refused():
                    self.log.error("Cannot end a deciding Job of the failed group", job=name, error=str(answer))
                    return
                case _:
                    self.log.info("Made a deciding Job of the failed group end", job=name)
                    return
        self.log.error("The server cannot be reached, so a deciding Job of the failed group runs on", job=name)

    def _trouble(self, verb: str, name: str, trouble: Trouble, patience: Patience) -> int | None:
        status = trouble.status if isinstance(trouble, Refused) else None
        if status is None or patience.lasts(status, monotonic()):
            self.log.warning(f"Cannot {verb} a deciding Job: trying again", job=name, error=str(trouble))
            return None
        self.log.error(f"No right to {verb} a deciding Job", job=name, error=str(trouble), needs=_needs(verb))
        return ExitCode.AUTH

    def _pod_trouble(self, trouble: Trouble) -> int | None:
        status = trouble.status if isinstance(trouble, Refused) else None
        if status is None or self.looking.lasts(status, monotonic()):
            self.log.warning("Cannot read the own pod: trying again", pod=self.settings.helper.pod, error=str(trouble))
            return None
        self.log.error("No right to read the own pod", error=str(trouble), needs="get on pods")
        return ExitCode.AUTH

    def _tell(self, name: str, before: JobState, now: JobState) -> None:
        if before.phase is not now.phase:
            self.log.info(f"Job is {now.phase.value}", job=name, reason=now.reason or None)

    def _tell_doom(self, name: str, reason: str) -> None:
        """Log that a Job is made to fail, only once for each Job, since that may need many requests."""
        if name not in self.doomed:
            self.doomed.add(name)
            self.log.error("The helper is lost: the deciding Job is made to fail", job=name, reason=reason)

    def _tell_ports(self, closed_before: set[int], opened: frozenset[int]) -> None:
        closed = {port for port, seconds in self.known.helper.closed.items() if seconds}
        for port in sorted(closed - closed_before):
            self.log.warning("A port of a helper is closed", port=port)
        for port in sorted(closed_before & opened):
            self.log.info("A port of a helper is open", port=port)


def _needs(verb: str) -> str:
    rights = "get and watch" if verb == "read" else "patch"
    return f"{rights} on jobs.batch of this name, from a Role that is bound to the ServiceAccount of the pod"
