"""Events for the await agent, in one queue: changes of the deciding Jobs, and looks at ports and own pod."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from stowplan.agents.await_group.helper import Crash, crash_of
from stowplan.agents.await_group.settings import AwaitSettings
from stowplan.agents.cluster.answers import Trouble
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.following import News, follow
from stowplan.agents.cluster.place import job, pod

LONGEST_INTERVAL = 5.0
SHORTEST_INTERVAL = 0.5
"""Bounds, in seconds, of the interval between two looks at ports and pod. Within them it is a tenth of the timeout."""

CONNECT_SECONDS = 2.0
"""Seconds after which a connection attempt is given up."""


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
    """Event: what the own pod's status says of the helper: a crash, or None for none; or a failed read of the pod."""

    news: Crash | Trouble | None


Event = JobNews | Probe | PodNews
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
        found = await client.get(place)
        await events.put(PodNews(crash_of(found, settings.helper.container) if isinstance(found, dict) else found))
        await asyncio.sleep(_interval(settings))


def _interval(settings: AwaitSettings) -> float:
    return min(LONGEST_INTERVAL, max(SHORTEST_INTERVAL, settings.helper.timeout / 10))


def addresses(pod_ip: str) -> tuple[str, ...]:
    """Return the addresses on which a helper may listen: loopback and the pod's own address."""
    loopback = ("127.0.0.1", "::1") if ":" in pod_ip else ("127.0.0.1",)
    return (*loopback, pod_ip)


async def open_ports(ports: Sequence[int], hosts: Sequence[str]) -> frozenset[int]:
    """Return those of `ports` on which at least one of the addresses `hosts` accepts a connection.

    Each connection is closed at once.
    """
    answers = await asyncio.gather(*(_is_open(port, hosts) for port in ports))
    return frozenset(port for port, is_open in zip(ports, answers, strict=True) if is_open)


async def _is_open(port: int, hosts: Sequence[str]) -> bool:
    for host in hosts:
        # A TimeoutError is an OSError.
        with contextlib.suppress(OSError):
            async with asyncio.timeout(CONNECT_SECONDS):
                _, writer = await asyncio.open_connection(host, port)
            writer.close()
            return True
    return False
