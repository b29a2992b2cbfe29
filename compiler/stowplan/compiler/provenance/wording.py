"""Wording of the answers of `stowplan explain` about values and lines."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from stowplan.compiler.diff.wording import shown
from stowplan.compiler.provenance.experiment import Input
from stowplan.compiler.provenance.leaves import pointer
from stowplan.compiler.provenance.questions import Effect
from stowplan.compiler.provenance.source_map import ExplainedLeaf, ValueOrigin
from stowplan.schema.diagnostics import dotted

MOST_ORIGINS = 12


def entries(found: Sequence[ExplainedLeaf]) -> Iterator[str]:
    """Yield a line for each leaf with its value, then lines for its origins.

    Neighbours with the same origins share these lines. The text of a rule is shown only the first time.
    """
    said: set[str] = set()
    for (origins, rules), group in groupby(found, key=lambda each: (each.origins, each.rules)):
        yield from (f"{pointer(each.leaf.path)}: {shown(each.leaf.value)}" for each in group)
        yield from (f"  {_origin(origin)}" for origin in origins[:MOST_ORIGINS])
        if len(origins) > MOST_ORIGINS:
            yield f"  and of {len(origins) - MOST_ORIGINS} more fields"
        for rule in rules:
            yield f"  rule {rule.id}" if rule.id in said else f"  rule {rule.id}: {rule.text}"
            said.add(rule.id)


def _origin(origin: ValueOrigin) -> str:
    if origin.default:
        return f"{origin.how} the default of {dotted(origin.path)} ({origin.location.file} does not give it)"
    patch = "the patch at " if origin.patched else ""
    pin = "the pin of " if origin.pinned else ""
    return f"{origin.how} {pin}{patch}{origin.location} {dotted(origin.path)}"


def effects(fields: Sequence[Input], found: Sequence[Effect]) -> Iterator[str]:
    """Yield a line for each field, then the leaves of the output that depend on these fields, grouped by file."""
    for field in fields:
        yield f"{field.document.locate(field.path)} {dotted(field.path)}: {shown(field.value)}"
    if not found:
        yield "  Nothing in the output depends on it."
    for path, group in groupby(found, key=lambda each: each.output.path):
        yield f"  {path}"
        yield from (f"    {pointer(each.path)}: {shown(each.value)}" for each in group)


def records(found: Sequence[ExplainedLeaf]) -> list[dict[str, Any]]:
    """Return a record for each leaf: its `pointer` (JSON pointer) and `value`, and lists of `origins` and `rules`."""
    return [
        {
            "pointer": pointer(each.leaf.path),
            "value": each.leaf.value,
            "origins": [_record(origin) for origin in each.origins],
            "rules": [{"id": rule.id, "text": rule.text} for rule in each.rules],
        }
        for each in found
    ]


def _record(origin: ValueOrigin) -> dict[str, Any]:
    place = origin.location
    return {
        "how": origin.how.value,
        "field": dotted(origin.path),
        "default": origin.default,
        **({"patched": True} if origin.patched else {}),
        **({"pinned": True} if origin.pinned else {}),
        "file": place.file,
        "line": place.line,
        "column": place.column,
    }
