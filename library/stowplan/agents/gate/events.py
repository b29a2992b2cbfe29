"""Changes of the objects that the gate watches, in one queue."""

import asyncio
from dataclasses import dataclass

from stowplan.agents.cluster.answers import Manifest, Refused, Trouble, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.following import Deleted, Live, Missing, follow
from stowplan.agents.cluster.place import ObjectAddress


@dataclass(frozen=True, slots=True)
class Changed:
    """Event: the present version of an object, None if it does not exist."""

    place: ObjectAddress
    object: Manifest | None


@dataclass(frozen=True, slots=True)
class Unread:
    """Event: an object could not be read."""

    place: ObjectAddress
    trouble: Trouble


Event = Changed | Unread
Events = asyncio.Queue[Event]


async def watch(client: Client, place: ObjectAddress, events: Events) -> None:
    """Put an event for each change and each failed read of one object into `events`, without end."""
    async for news in follow(client, place):
        match news:
            case Live(found):
                await events.put(Changed(place, found))
            case Deleted() | Missing():
                await events.put(Changed(place, None))
            case Refused() | Unreachable():
                await events.put(Unread(place, news))
