"""Continuous watch of one object across faults of the server."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic

from stowplan.agents.cluster.answers import Manifest, Refused, Trouble, Unreachable, WatchEvent
from stowplan.agents.cluster.backoff import Backoff
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import ObjectAddress

STEADY_SECONDS = 5.0
"""A round of at least this many seconds resets the backoff."""

_GONE = 410


@dataclass(frozen=True, slots=True)
class Live:
    """Current object."""

    object: Manifest


@dataclass(frozen=True, slots=True)
class Deleted:
    """Object in its last version."""

    object: Manifest


@dataclass(frozen=True, slots=True)
class Missing:
    """The server does not have the object."""


News = Live | Deleted | Missing | Trouble


async def follow(client: Client, place: ObjectAddress) -> AsyncIterator[News]:
    """Everything that happens to one object, without end.

    Each round reads the object and watches it from that version on. When the watch ends (by its time, by 410 Gone or by
    a fault), the next round reads again, so no lasting change is missed. Changes that were undone between two rounds
    are missed. The same version may be yielded twice. Troubles are yielded too, and retried after an increasing wait.
    """
    backoff = Backoff()
    while True:
        begin = monotonic()
        async for news in _round(client, place):
            if not (isinstance(news, Refused) and news.status == _GONE):
                yield news
        if monotonic() - begin >= STEADY_SECONDS:
            backoff.reset()
        await asyncio.sleep(backoff.seconds())


async def _round(client: Client, place: ObjectAddress) -> AsyncIterator[News]:
    match await client.get(place):
        case Refused(status=404, reason="NotFound"):
            yield Missing()
            version = None
        case Refused() | Unreachable() as trouble:
            yield trouble
            return
        case found:
            yield Live(found)
            version = found["metadata"].get("resourceVersion")
    async for event in client.watch(place, version):
        match event:
            case WatchEvent("ADDED" | "MODIFIED", now):
                yield Live(now)
            case WatchEvent("DELETED", last):
                yield Deleted(last)
            case Refused() | Unreachable():
                yield event
