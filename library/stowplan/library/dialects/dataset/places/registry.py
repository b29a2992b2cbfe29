"""The places of the native kinds, by the names of their remotes."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from stowplan.library.dialects.dataset.places.place import PlaceSide
from stowplan.library.dialects.shared import secrets
from stowplan.library.ir.data import Remote
from stowplan.library.manifest import ExternalReference
from stowplan.schema.diagnostics import FieldPath, Finding
from stowplan.schema.meta import SecretReference
from stowplan.schema.remotes.place import LocalSecret, Place
from stowplan.schema.remotes.registry import SOURCES, TARGETS

PLACES: dict[str, PlaceSide[Any]] = {
    name: import_module(f"stowplan.library.dialects.dataset.places.{name}").PLACE for name in {**SOURCES, **TARGETS}
}


def remote_of(name: str, place: Place, namespace: str) -> Remote:
    """Return a place of the remote `name` as the remote side of a transfer in `namespace`."""
    return PLACES[name].remote(place, namespace)


def findings(name: str, place: Place, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about the place of the remote `name` at `path` of a document, and about its Secret."""
    if place.secret_ref:
        yield from secret(place.secret_ref, (*path, "secretRef"))
    yield from PLACES[name].findings(place, path)


def secret(reference: LocalSecret, path: FieldPath) -> list[Finding]:
    """Return a finding if no Secret can have this name, else an empty list. `path` is the path of the reference."""
    return secrets.name_findings(SecretReference(name=reference.name), path)


def externals(name: str, place: Place, namespace: str) -> tuple[ExternalReference, ...]:
    """Return the reference to the Secret of a place, with its required keys; empty without a Secret."""
    if place.secret_ref is None:
        return ()
    return (ExternalReference("Secret", namespace, place.secret_ref.name, remote_of(name, place, namespace).keys),)
