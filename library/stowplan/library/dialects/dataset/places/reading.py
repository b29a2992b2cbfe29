"""The places of native kinds in documents, such as `source` of a Dataset: their addresses, and what can be pinned."""

from collections.abc import Callable, Iterator
from typing import Any

from stowplan.library.dialects.dataset.places.registry import PLACES
from stowplan.library.dialects.reading.api import Address
from stowplan.library.dialects.reading.floating import FloatingReference
from stowplan.library.manifest import Json
from stowplan.schema.kinds.kind import values


def addresses(*path: str, word: str = "") -> Callable[[Json], Iterator[Address]]:
    """Return a function that yields the addresses of a document's places at `path` (`*` is each entry of a list).

    `word` is that of each address.
    """

    def found(document: Json) -> Iterator[Address]:
        for given, _ in values(document, *path):
            for name, side in PLACES.items():
                if place := _place(given, name):
                    yield Address(side.shown(place), word)
            if storage := _place(given, "storage"):
                yield Address(str(storage.get("uri", "")), word)
            if claim := _place(given, "claim"):
                yield Address(f"claim {claim.get('name', '')}", word)

    return found


def pins(document: Json, *path: str) -> Iterator[FloatingReference]:
    """Yield what can be pinned of the places at `path` of a document; `*` in it stands for every entry of a list."""
    for given, at in values(document, *path):
        for name, side in PLACES.items():
            if place := _place(given, name):
                yield from side.pins(place, (*at, name))


def _place(given: Any, name: str) -> Json:
    place = given.get(name) if isinstance(given, dict) else None
    return place if isinstance(place, dict) else {}
