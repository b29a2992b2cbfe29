"""Events for the await agent: changes of the deciding Jobs and results of port probes, in one queue."""

import asyncio
from dataclasses import dataclass

from stowplan.agents.await_group.job_state import ABSENT, JobState, read, read_deleted
from stowplan.agents.await_group.ports import addresses, open_ports
from stowplan.agents.await_group.settings import AwaitSettings
from stowplan.agents.cluster.answers import Refused, Trouble, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.following import Deleted, Live, Missing, follow
from stowplan.agents.cluster.place import job

LONGEST_INTERVAL = 5.0
SHORTEST_INTERVAL = 0.5
"""Bounds, in seconds, of the interval between two probes of the ports. Within them it is a tenth of the timeout."""


@dataclass(frozen=True, slots=True)
class JobNews:
    """Event: the present state of the deciding Job `name`."""

    name: str
    state: JobState


@dataclass(frozen=True, slots=True)
class JobTrouble:
    """Event: a failed read of the deciding Job `name`."""

    name: str
    trouble: Trouble


@dataclass(frozen=True, slots=True)
class Probe:
    """Event: the result of probing all ports once."""

    opened: frozenset[int]
    """Ports on which a helper listens."""
    elapsed: float
    """Seconds since the previous probe, as limited by `watch_ports`."""


Event = JobNews | JobTrouble | Probe
Events = asyncio.Queue[Event]


async def watch_job(client: Client, namespace: str, name: str, events: Events) -> None:
    """Put an event for each change and each failed read of one Job into `events`, without end."""
    async for news in follow(client, job(namespace, name)):
        match news:
            case Live(manifest):
                await events.put(JobNews(name, read(manifest)))
            case Deleted(manifest):
                await events.put(JobNews(name, read_deleted(manifest)))
            case Missing():
                await events.put(JobNews(name, ABSENT))
            case Refused() | Unreachable():
                await events.put(JobTrouble(name, news))


async def watch_ports(settings: AwaitSettings, events: Events) -> None:
    """Probe the ports at regular intervals and put the results into `events`, without end.

    `Probe.elapsed` is at most three intervals. A longer time means that the machine stopped this process meanwhile,
    and proves nothing about the helper.
    """
    interval = min(LONGEST_INTERVAL, max(SHORTEST_INTERVAL, settings.timeout / 10))
    hosts = addresses(settings.pod_ip)
    clock = asyncio.get_running_loop().time
    last = clock()
    while True:
        opened = await open_ports(settings.ports, hosts)
        now = clock()
        await events.put(Probe(opened, min(now - last, 3 * interval)))
        last = now
        await asyncio.sleep(interval)
