"""Endless watch of one object, which goes on after faults of the API server."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic

from stowplan.agents.cluster.answers import Manifest, Refused, Trouble, Unreachable, WatchEvent
from stowplan.agents.cluster.backoff import Backoff
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import ObjectAddress

STEADY_SECONDS = 5.0
"""A round (one read and one watch) of at least this many seconds resets the backoff."""

_GONE = 410


@dataclass(frozen=True, slots=True)
class Live:
    """News that the object exists, with its current version."""

    object: Manifest


@dataclass(frozen=True, slots=True)
class Deleted:
    """News that the object was deleted, with its last version."""

    object: Manifest


@dataclass(frozen=True, slots=True)
class Missing:
    """News that the object does not exist."""


News = Live | Deleted | Missing | Trouble


async def follow(client: Client, place: ObjectAddress) -> AsyncIterator[News]:
    """Yield news about one object, without end.

    Each round reads the object, yields it, and watches it from that version on. The watch ends by its time limit, by
    status 410 (Gone) or by a fault. Then the next round reads the object again, so no lasting change is missed. A
    change that was undone between two rounds is missed. The same version may be yielded twice. Refusals and lost
    connections are yielded too, except 410. The wait between two rounds grows while the rounds are short.
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
    async for event in client.watch(place.collection, place.selector, version):
        match event:
            case WatchEvent("ADDED" | "MODIFIED", now):
                yield Live(now)
            case WatchEvent("DELETED", last):
                yield Deleted(last)
            case Refused() | Unreachable():
                yield event
