"""All references of a repository that can be pinned, each with the places that have it."""

from collections.abc import Iterable

from stowplan.compiler.diagnostics.document import Document
from stowplan.compiler.pins.pin import Reference, Use
from stowplan.library.dialects.reading.pinnable import Pinnable, Section
from stowplan.schema.diagnostics import dotted


def together(found: Iterable[tuple[Document, Iterable[Pinnable]]]) -> tuple[Reference, ...]:
    """Return the references at the places of documents, sorted by section and key; equal ones once, with all uses."""
    places: dict[tuple[Section, str], Pinnable] = {}
    uses: dict[tuple[Section, str], dict[Use, None]] = {}
    for document, own in found:
        for each in own:
            known = places.setdefault((each.section, each.key), each)
            if each.region and not known.region:
                places[each.section, each.key] = each
            uses.setdefault((each.section, each.key), {})[_use(document, each)] = None
    order = list(Section)
    return tuple(
        Reference(
            section,
            key,
            each.address,
            each.name,
            each.revision,
            each.region,
            each.path_style,
            tuple(sorted(uses[section, key])),
        )
        for (section, key), each in sorted(places.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    )


def _use(document: Document, place: Pinnable) -> Use:
    return Use(document.locate(place.path), dotted(place.path))
