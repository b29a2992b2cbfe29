"""Events for the await agent, in one queue: changes of the deciding Jobs, and looks at ports and own pod."""

import asyncio
from dataclasses import dataclass

from stowplan.agents.await_group.helper import Crash
from stowplan.agents.await_group.own_pod import crash_of
from stowplan.agents.await_group.ports import addresses, open_ports
from stowplan.agents.await_group.settings import AwaitSettings
from stowplan.agents.cluster.answers import Refused, Trouble, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.following import News, follow
from stowplan.agents.cluster.place import job, pod

LONGEST_INTERVAL = 5.0
SHORTEST_INTERVAL = 0.5
"""Bounds, in seconds, of the interval between two looks at ports and pod. Within them it is a tenth of the timeout."""


@dataclass(frozen=True, slots=True)
class JobNews:
    """Event: news about the deciding Job `name`, or a failed read of it."""

    name: str
    news: News


@dataclass(frozen=True, slots=True)
class Probe:
    """Event: the result of probing all ports once."""

    opened: frozenset[int]
    """Ports on which a helper listens."""
    elapsed: float
    """Seconds since the previous probe, as limited by `watch_ports`."""


@dataclass(frozen=True, slots=True)
class PodNews:
    """Event: what the status of the own pod says about the helper's container."""

    crash: Crash | None


@dataclass(frozen=True, slots=True)
class PodTrouble:
    """Event: a failed read of the own pod."""

    trouble: Trouble


Event = JobNews | Probe | PodNews | PodTrouble
Events = asyncio.Queue[Event]


async def watch_job(client: Client, namespace: str, name: str, events: Events) -> None:
    """Put an event for each change and each failed read of one Job into `events`, without end."""
    async for news in follow(client, job(namespace, name)):
        await events.put(JobNews(name, news))


async def watch_ports(settings: AwaitSettings, events: Events) -> None:
    """Probe the ports at regular intervals and put the results into `events`, without end.

    `Probe.elapsed` is at most three intervals. A longer time means that the machine stopped this process meanwhile,
    and proves nothing about the helper.
    """
    interval = _interval(settings)
    hosts = addresses(settings.pod_ip)
    clock = asyncio.get_running_loop().time
    last = clock()
    while True:
        opened = await open_ports(settings.ports, hosts)
        now = clock()
        await events.put(Probe(opened, min(now - last, 3 * interval)))
        last = now
        await asyncio.sleep(interval)


async def watch_pod(settings: AwaitSettings, client: Client, events: Events) -> None:
    """Read the own pod at regular intervals and put what it says about the helper into `events`, without end.

    It is read and not watched: the right to watch could not be limited to one pod, since its name is made up.
    """
    place = pod(settings.namespace, settings.helper.pod)
    while True:
        match await client.get(place):
            case Refused() | Unreachable() as trouble:
                await events.put(PodTrouble(trouble))
            case found:
                await events.put(PodNews(crash_of(found, settings.helper.container)))
        await asyncio.sleep(_interval(settings))


def _interval(settings: AwaitSettings) -> float:
    return min(LONGEST_INTERVAL, max(SHORTEST_INTERVAL, settings.helper.timeout / 10))
