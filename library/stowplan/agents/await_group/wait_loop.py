"""Wait for the end of the training group, and end the group if its helper is lost."""

import asyncio
import sys
from dataclasses import dataclass, field

from stowplan.agents.await_group.changes import Changes, Right
from stowplan.agents.await_group.events import Event, Events, JobNews, PodNews, Probe, watch_job, watch_pod, watch_ports
from stowplan.agents.await_group.group import Doomed, Failed, Group, Serves, Succeeded
from stowplan.agents.await_group.helper import Crash
from stowplan.agents.await_group.job_state import UNKNOWN, JobState, state_of
from stowplan.agents.await_group.settings import AwaitSettings, arguments, settings
from stowplan.agents.cluster import main_loop
from stowplan.agents.cluster.answers import Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.following import Deleted, Live, Missing
from stowplan.agents.runtime import timestamp
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.await_config import GROUP_FAILED
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.field_managers import AWAIT


def main() -> int:
    """Run until the training group has ended and return the exit code."""
    return main_loop.run(arguments(sys.argv[1:]), settings, wait_for_end, AWAIT)


async def wait_for_end(given: AwaitSettings, client: Client, log: Log) -> int:
    """Wait until the outcome of the training group is certain and return the exit code.

    It is 0 if all deciding Jobs are complete, `GROUP_FAILED` if one failed or was deleted, and 3 if an RBAC right was
    missing for too long.
    """
    events: Events = asyncio.Queue()
    log.info("Waiting for the deciding Jobs", jobs=", ".join(given.jobs), ports=", ".join(map(str, given.ports)))
    async with asyncio.TaskGroup() as tasks:
        watches = [watch_job(client, given.namespace, name, events) for name in given.jobs]
        if given.ports:
            watches.append(watch_ports(given, events))
        if given.helper.container:
            watches.append(watch_pod(given, client, events))
        running = [tasks.create_task(each) for each in watches]
        code = await WaitLoop(given, client, log).until_end(events)
        for task in running:
            task.cancel()
    return code


@dataclass
class WaitLoop:
    """The wait for one training group: it takes events, acts on them, and ends with an exit code."""

    settings: AwaitSettings
    client: Client
    log: Log
    known: Group = field(init=False)
    """Known state of the group."""
    reading: dict[str, Right] = field(init=False)
    """The right to read each Job."""
    looking: Right = field(init=False)
    """The right to read the own pod."""
    changes: Changes = field(init=False)

    def __post_init__(self) -> None:
        names = self.settings.jobs
        self.known = Group(dict.fromkeys(names, UNKNOWN), self.settings.helper)
        self.reading = {name: Right("read a deciding Job", "get and watch", self.log, name) for name in names}
        self.looking = Right("read the own pod", "get", self.log)
        self.changes = Changes(self.settings, self.client, self.log)

    async def until_end(self, events: Events) -> int:
        """Process events, which other tasks put into the queue, until the outcome; return its exit code, 0, 1 or 3."""
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
            case JobNews(name, Refused() | Unreachable() as trouble):
                return self.reading[name].answered(trouble)
            case JobNews(name, Live() | Deleted() | Missing() as news):
                self.reading[name].answered(None)
                before = self.known.jobs[name]
                self.known = self.known.saw(name, state_of(news))
                self._log_phase(name, before, self.known.jobs[name])
            case Probe(opened, elapsed):
                before_ports = self.known.helper.closed
                self.known = self.known.probed(opened, elapsed, timestamp.now())
                self._log_ports({port for port, seconds in before_ports.items() if seconds}, opened)
            case PodNews(Refused() | Unreachable() as trouble):
                return self.looking.answered(trouble)
            case PodNews(Crash() | None as crash):
                self.looking.answered(None)
                self.known = self.known.crashed(crash)
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
                    await self.changes.end(other)
                return GROUP_FAILED
            case Doomed(reason, jobs) if after_look:
                codes = [await self.changes.fail(name, state, reason) for name, state in jobs.items()]
                return next((code for code in codes if code is not None), None)
            case Serves(name, key, value) if after_look:
                return await self.changes.note(name, key, value)
        return None

    def _log_phase(self, name: str, before: JobState, now: JobState) -> None:
        if before.phase is not now.phase:
            self.log.info(f"Job is {now.phase.value}", job=name, reason=now.reason or None)

    def _log_ports(self, closed_before: set[int], opened: frozenset[int]) -> None:
        closed = {port for port, seconds in self.known.helper.closed.items() if seconds}
        for port in sorted(closed - closed_before):
            self.log.warning("A port of a helper is closed", port=port)
        for port in sorted(closed_before & opened):
            self.log.info("A port of a helper is open", port=port)
