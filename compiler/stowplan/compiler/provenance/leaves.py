"""Leaves of plain data: scalars, and empty lists and mappings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.compiler.diff.fields import naming, opened
from stowplan.schema.diagnostics import FieldPath

Place = tuple[str | int, ...]
"""Field path in which `=<name>` replaces the index of a list item if all items have names.

Such a path stays valid when the list grows.
"""

INSIDE = "#"
"""Step of a path that leads from a string with JSON into the parsed content."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One leaf and its path. A string with a JSON object is no leaf: its values are leaves below the step `#`."""

    path: FieldPath
    value: Any


def leaves(data: Any) -> dict[Place, Leaf]:
    """Return all leaves of plain data by place, in the order of the data."""
    return {place: Leaf(path, value) for place, path, value in _walk(data, (), ())}


def _walk(data: Any, place: Place, path: FieldPath) -> Iterator[tuple[Place, FieldPath, Any]]:
    if isinstance(data, Mapping) and data:
        for key, value in data.items():
            yield from _walk(value, (*place, key), (*path, key))
    elif isinstance(data, list) and data:
        name = naming(data)
        for index, item in enumerate(data):
            yield from _walk(item, (*place, f"={item[name]}" if name else index), (*path, index))
    elif isinstance(data, str) and data[:1] == "{" and isinstance(inside := opened(data), dict) and inside:
        yield from _walk(inside, (*place, INSIDE), (*path, INSIDE))
    else:
        yield place, path, data


def pointer(path: FieldPath) -> str:
    """Return the path as a JSON pointer (RFC 6901); `#` in it leads into the content of a JSON string."""
    text = ""
    for part in path:
        text += INSIDE if part == INSIDE else "/" + str(part).replace("~", "~0").replace("/", "~1")
    return text


def steps(text: str) -> list[str]:
    """Return the steps of a JSON pointer as strings; the opposite of `pointer`."""
    parts = [INSIDE if part == INSIDE else part for part in text.replace(f"{INSIDE}/", f"/{INSIDE}/").split("/")[1:]]
    return [part.replace("~1", "/").replace("~0", "~") for part in parts]
