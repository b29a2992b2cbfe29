"""Alternative values of a field, to see what in the output changes with it."""

import re
from collections.abc import Iterator
from typing import Any

from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.export.plain_schema import Schema

GONE = object()
"""As a new value for `changed`: remove the field."""

_WORDS = (
    ("Always", "OnFailure", "Never", "IfNotPresent"),
    ("TCP", "UDP"),
    ("Exists", "Equal"),
    ("NoSchedule", "NoExecute", "PreferNoSchedule"),
    ("ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany"),
    ("1.37", "1.36", "1.35"),
)
"""Values of fields with a few allowed words, for schemas that do not list them."""

_NUMBER = re.compile(r"[0-9]+")


def candidates(value: Any, schema: Schema) -> Iterator[Any]:
    """Yield other values of the type of `value`, those that the field probably accepts first.

    `schema` is the JSON Schema of the field. A value may be invalid; the caller validates it.
    """
    for other in schema.get("enum", ()):
        if other != value:
            yield other
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, value * 2, 1)
    elif isinstance(value, float):
        yield value + 1
    elif isinstance(value, str):
        yield from _texts(value)


def _texts(value: str) -> Iterator[str]:
    for words in _WORDS:
        if value in words:
            yield from (word for word in words if word != value)
    if _NUMBER.search(value):
        yield _NUMBER.sub(lambda found: str(int(found[0]) + 1), value, count=1)
    yield f"{value}x"
    yield f"x{value}"
    yield f"{value}/x"
    if _NUMBER.search(value):
        yield _NUMBER.sub(lambda found: str(int(found[0]) * 2 or 3), value)


def below(schema: Schema, path: FieldPath) -> Schema:
    """Return the part of a JSON Schema that describes the field at `path`; empty if the schema does not describe it."""
    for part in path:
        found = schema.get("properties", {}).get(part) if isinstance(part, str) else schema.get("items")
        schema = found or schema.get("additionalProperties") or {}
        if not isinstance(schema, dict):
            return {}
    return schema


def changed(data: Any, path: FieldPath, value: Any) -> Any:
    """Return a copy of plain data with one changed field; with `GONE` as `value`, without it.

    Missing mappings on the path are created.
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(data, list) and isinstance(step, int):
        items = list(data)
        if value is GONE and not rest:
            del items[step]
        else:
            items[step] = changed(items[step], rest, value)
        return items
    mapping = dict(data) if isinstance(data, dict) else {}
    if value is GONE and not rest:
        mapping.pop(step, None)
    else:
        mapping[step] = changed(mapping.get(step), rest, value)
    return mapping
