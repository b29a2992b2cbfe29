"""What await hears: one queue that news of the Jobs and looks at the ports come through."""

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
"""Seconds between two looks at the ports; a tenth of the timeout in between."""


@dataclass(frozen=True, slots=True)
class JobNews:
    """A deciding Job as it is now."""

    name: str
    state: JobState


@dataclass(frozen=True, slots=True)
class JobTrouble:
    """A deciding Job could not be read."""

    name: str
    trouble: Trouble


@dataclass(frozen=True, slots=True)
class Probe:
    """The ports that are open, and the seconds since the look before."""

    opened: frozenset[int]
    elapsed: float


Event = JobNews | JobTrouble | Probe
Events = asyncio.Queue[Event]


async def watch_job(client: Client, namespace: str, name: str, events: Events) -> None:
    """Tells of one Job without end."""
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
    """Looks at the ports without end.

    A gap that is much longer than the interval is counted as a short one: a process that stood still with its node says
    nothing of the helper.
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
