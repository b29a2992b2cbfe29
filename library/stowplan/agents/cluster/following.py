"""Follows one object for as long as anyone wants to know, whatever happens to the server in between."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from time import monotonic

from stowplan.agents.cluster.answers import Manifest, Refused, Trouble, Unreachable, WatchEvent
from stowplan.agents.cluster.backoff import Backoff
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import Place

STEADY_SECONDS = 5.0
"""A round that lasted this long went well; one that ends sooner is followed by a wait."""

_GONE = 410


@dataclass(frozen=True, slots=True)
class Live:
    """The object as it is."""

    object: Manifest


@dataclass(frozen=True, slots=True)
class Deleted:
    """The object as it was at its end."""

    object: Manifest


@dataclass(frozen=True, slots=True)
class Missing:
    """The server does not have the object."""


News = Live | Deleted | Missing | Trouble


async def follow(client: Client, place: Place) -> AsyncIterator[News]:
    """Everything that happens to one object, without end.

    Each round reads the object and watches it from that version on; when the watch ends, by its time, by 410 Gone or by
    a fault, the next round reads again, so nothing that lasts is missed. What came and went between two rounds is. The
    same version may come twice. Troubles are reported, then tried again after a wait that grows.
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


async def _round(client: Client, place: Place) -> AsyncIterator[News]:
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
