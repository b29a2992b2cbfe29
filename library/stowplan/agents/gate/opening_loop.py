"""Wait until all that a run waits for is ready, open the run, and watch for a while that it stays open."""

import asyncio
import sys
from dataclasses import dataclass, field
from time import monotonic

from stowplan.agents.cluster import main_loop
from stowplan.agents.cluster.answers import Manifest, Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.following import Live, News, follow
from stowplan.agents.cluster.place import ObjectAddress, job, job_set, resource
from stowplan.agents.gate.readiness import Readiness, unseen
from stowplan.agents.gate.settings import arguments, settings
from stowplan.agents.gate.workload import WorkloadState, opening, state_of
from stowplan.agents.runtime import timestamp
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.field_managers import GATE
from stowplan.schema.agents.gate_config import GateConfig

WATCHED = 60.0
"""Seconds for which the run is watched after it was opened: a sync that began before may close it once more."""

_TICK = 1.0
"""Seconds between two looks at the clock, and between two tries of a change that was refused."""

Event = tuple[ObjectAddress, News]
Events = asyncio.Queue[Event]


def main() -> int:
    """Run until the run is open and return the exit code."""
    return main_loop.run(arguments(sys.argv[1:]), settings, open_run, GATE)


async def open_run(given: GateConfig, client: Client, log: Log) -> int:
    """Open the run once it need not wait, and return 0 after it has been open for `WATCHED` seconds. Never give up."""
    events: Events = asyncio.Queue()
    loop = OpeningLoop(given, client, log)
    async with asyncio.TaskGroup() as tasks:
        running = [
            tasks.create_task(_watch(client, place, events)) for place in (loop.owner, *loop.waits, *loop.objects)
        ]
        await loop.until_open(events)
        for task in running:
            task.cancel()
    return ExitCode.DONE


async def _watch(client: Client, place: ObjectAddress, events: Events) -> None:
    async for news in follow(client, place):
        await events.put((place, news))


@dataclass
class OpeningLoop:
    """The work of one gate: it takes events about `owner`, `waits` and `objects`, opens the run, and ends."""

    config: GateConfig
    client: Client
    log: Log
    owner: ObjectAddress = field(init=False)
    """Custom resource whose run waits."""
    waits: dict[ObjectAddress, Readiness] = field(init=False)
    """Readiness of each custom resource that the run waits for."""
    resources: dict[ObjectAddress, Manifest | None] = field(default_factory=dict)
    """Last known version of each custom resource that the run waits for."""
    objects: dict[ObjectAddress, Manifest | None] = field(init=False)
    """Last known version of each Job or JobSet, in the order in which they are opened; None if it does not exist."""
    suspended: bool = True
    """Whether the user holds the run back; true until the custom resource is known."""
    last: float | None = None
    """Time of the last opening, or at which the run was first seen open, by the monotonic clock; None before that."""
    states: dict[ObjectAddress, WorkloadState] = field(default_factory=dict)
    """States that were logged last."""

    def __post_init__(self) -> None:
        config, namespace = self.config, self.config.namespace
        self.owner = resource(config.owner.kind, namespace, config.owner.name)
        self.waits = {resource(wait.kind, namespace, wait.name): unseen(wait) for wait in config.waits}
        places = ((job if each.kind == "Job" else job_set)(namespace, each.name) for each in config.objects)
        self.objects = dict.fromkeys(places)
        self.log.info("Waiting", waits=", ".join(f"{wait.kind} {wait.name}" for wait in config.waits))

    async def until_open(self, events: Events) -> None:
        """Process events, which other tasks put into the queue, until the run has been open for `WATCHED` seconds."""
        while not self._is_done():
            try:
                async with asyncio.timeout(_TICK):
                    self._take(await events.get())
            except TimeoutError:
                pass
            else:
                # What has come meanwhile counts before anything is changed.
                while not events.empty():
                    self._take(events.get_nowait())
            await self._act()

    def _take(self, event: Event) -> None:
        place, news = event
        if isinstance(news, Refused | Unreachable):
            self.log.warning("Cannot read an object: trying again", object=place.path, error=str(news))
            return
        found = news.object if isinstance(news, Live) else None
        if place == self.owner:
            self.suspended = found is None or bool((found.get("spec") or {}).get("suspend"))
            return
        (self.resources if place in self.waits else self.objects)[place] = found
        self._look()

    def _look(self) -> None:
        born = max(
            (str(each["metadata"].get("creationTimestamp")) for each in self.objects.values() if each), default=""
        )
        for place, found in self.resources.items():
            if self.waits[place].saw(found, born, monotonic()):
                self.log.info(self.waits[place].verdict.text)

    async def _act(self) -> None:
        """Open what is closed, in order, if nothing holds the run back. After a failure the rest waits."""
        states = {place: state_of(each, admission=self.config.admission) for place, each in self.objects.items()}
        for place, state in states.items():
            if self.states.get(place) is not state:
                self.log.info(f"{place.name} is {state.value}")
        self.states = states
        if WorkloadState.ABSENT in states.values():
            return
        if WorkloadState.CLOSED not in states.values():
            self.last = self.last or monotonic()
            return
        now = monotonic()
        if self.suspended or not all(wait.is_ready(now) for wait in self.waits.values()):
            return
        for place, state in states.items():
            if state is WorkloadState.CLOSED and not await self._open(place):
                return
        self.last = monotonic()

    async def _open(self, place: ObjectAddress) -> bool:
        """Open one object. Return whether it is open now."""
        found = self.objects[place]
        if found is None:
            return False
        change = opening(found, timestamp.now(), admission=self.config.admission)
        match await self.client.merge_patch(place, change, GATE):
            case Refused() | Unreachable() as trouble:
                self.log.warning("Cannot open: trying again", object=place.path, error=str(trouble))
                return False
            case opened:
                self.objects[place] = opened
                self.log.info("Opened", object=place.path)
                return True

    def _is_done(self) -> bool:
        if self.last is None or monotonic() - self.last < WATCHED:
            return False
        return not {WorkloadState.ABSENT, WorkloadState.CLOSED} & set(self.states.values())
