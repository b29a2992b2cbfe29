"""Substitution: documents with the digests, commits and listings of the lock file in place of tags and branches.

Everything that follows sees what is pinned as if users had written it. So a moved pin is an edit of the spec.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stowplan.compiler.diagnostics.document import Document, Node
from stowplan.library.dialects.reading.floating import FloatingReference, Section
from stowplan.schema.diagnostics import FieldPath

if TYPE_CHECKING:
    from stowplan.schema.lock import Lock, Pin


def entry(lock: "Lock", section: Section, key: str) -> "Pin | None":
    """Return the entry of a reference; None if the lock has none."""
    entries: dict[str, Any] = getattr(lock, section.value)
    found: Pin | None = entries.get(key)
    return found


def pinned(document: Document, places: Iterable[FloatingReference], lock: "Lock") -> Document:
    """Return a document with the revisions of the lock at its `places`. Positions are those of what users wrote."""
    given, used, at = None, list[str](), set[FieldPath]()
    for place in places:
        found = entry(lock, place.section, place.key)
        if found is not None:
            given = _with(given or document.root, place.at, _value(place, found.revision))
            used.append(f"{place.section} {place.key}")
            at.add(place.at)
    if given is None:
        return document
    return replace(document, given=given, pins=tuple(dict.fromkeys(used)), pinned=frozenset(at))


def _value(place: FloatingReference, wanted: str) -> Any:
    if place.option:
        return {"name": place.option, "value": wanted}
    in_pod = place.section is Section.IMAGES and place.at == place.path
    return f"{place.key}@{wanted}" if in_pod else wanted


def _with(node: Node, path: FieldPath, value: Any) -> Node:
    """Return a copy of a node with another value at a path; mappings and the item at the end are made if missing."""
    if not path:
        fields = value if isinstance(value, dict) else {}
        children = {key: replace(node, data=each, children={}) for key, each in fields.items()}
        return Node(value, node.mark, node.key_mark, children, node.file)
    part, rest = path[0], path[1:]
    below = node.child(part) or replace(node, data={}, children={})
    made = _with(below, rest, value)
    if isinstance(node.children, list):
        items = list(node.children)
        items[int(part) :] = [made, *items[int(part) + 1 :]]
        return replace(node, data=[each.data for each in items], children=items)
    # A mapping that is null has no children; the pin makes it one.
    data = {**(node.data if isinstance(node.data, dict) else {}), part: made.data}
    return replace(node, data=data, children={**node.children, str(part): made})
