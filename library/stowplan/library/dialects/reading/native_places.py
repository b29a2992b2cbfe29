"""The places of native kinds in documents, such as `source` of a Dataset: their addresses, and what can be pinned."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stowplan.library.dialects.reading import floating
from stowplan.library.dialects.reading.api import Address
from stowplan.library.dialects.reading.floating import HUB, FloatingReference, Spot
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.kind import values

Place = Mapping[str, Any]


def addresses(*path: str, word: str = "") -> Callable[[Json], Iterator[Address]]:
    """Return a function that yields the addresses of the places at `path` of a document; `word` is that of each."""

    def found(document: Json) -> Iterator[Address]:
        for given, _ in values(document, *path):
            for name, text in _ADDRESSES.items():
                if place := _place(given, name):
                    yield Address(text(place), word)

    return found


def pins(document: Json, *path: str) -> Iterator[FloatingReference]:
    """Yield what can be pinned of the places at `path` of a document."""
    for given, at in values(document, *path):
        for name, found in _PINS.items():
            if place := _place(given, name):
                yield from found(place, (*at, name))


def _place(given: Any, name: str) -> Place:
    place = given.get(name) if isinstance(given, dict) else None
    return place if isinstance(place, dict) else {}


def _uri(place: Place) -> str:
    return str(place.get("uri", ""))


def _hub(place: Place) -> str:
    revision = f"@{place['revision']}" if place.get("revision") else ""
    return f"hf://{place.get('type', 'dataset')}s/{place.get('repo', '')}{revision}"


def _git(place: Place) -> str:
    ref = f"@{place['ref']}" if place.get("ref") else ""
    return f"{place.get('url', '')}{ref}"


_ADDRESSES: Mapping[str, Callable[[Place], str]] = {
    "s3": _uri,
    "huggingface": _hub,
    "git": _git,
    "storage": _uri,
    "claim": lambda place: f"claim {place.get('name', '')}",
}


def _spot(place: Place, path: FieldPath, field: str) -> Spot:
    return Spot((*path, field) if place.get(field) else path, (*path, field))


def _pin_of_git(place: Place, path: FieldPath) -> Iterator[FloatingReference]:
    return floating.of_git(place.get("url"), place.get("ref"), _spot(place, path, "ref"))


def _pin_of_hub(place: Place, path: FieldPath) -> Iterator[FloatingReference]:
    repository = HUB, place.get("type", "dataset"), place.get("repo")
    return floating.of_hub(repository, place.get("revision"), _spot(place, path, "revision"))


_PINS: Mapping[str, Callable[[Place, FieldPath], Iterator[FloatingReference]]] = {
    "git": _pin_of_git,
    "huggingface": _pin_of_hub,
    "s3": floating.of_s3,
}
