"""All references of a repository that can be pinned, each with the places that have it."""

from collections.abc import Iterable
from typing import NamedTuple

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.diagnostics.locations import Location
from stowplan.library.dialects.reading.floating import FloatingReference, Section
from stowplan.schema.diagnostics import dotted


class Use(NamedTuple):
    """Where a reference stands: its position, and the path of the field in its document, such as `spec.image`."""

    location: Location
    field: str


class Reference(NamedTuple):
    """A reference as one of its `uses` has it."""

    wanted: FloatingReference
    uses: tuple[Use, ...]


def together(found: Iterable[tuple[Document, Iterable[FloatingReference]]]) -> tuple[Reference, ...]:
    """Return the references of documents, sorted by section and key; equal ones once, with all uses."""
    wanted: dict[tuple[int, str], FloatingReference] = {}
    uses: dict[tuple[int, str], set[Use]] = {}
    order = list(Section)
    for document, own in found:
        for each in own:
            key = order.index(each.section), each.key
            known = wanted.setdefault(key, each)
            if each.region and not known.region:
                wanted[key] = each
            uses.setdefault(key, set()).add(Use(document.locate(each.path), dotted(each.path)))
    return tuple(Reference(wanted[key], tuple(sorted(uses[key]))) for key in sorted(wanted))
