"""Differing fields of two objects."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from stowplan.schema.diagnostics import FieldPath


class Nothing(Enum):
    """Stands for the value of a missing field, because None stands for a null."""

    HERE = "nothing"


@dataclass(frozen=True, slots=True)
class Field:
    """A field that differs, with both values; `Nothing.HERE` if the field is missing.

    If the items of a list have names, the path has the name of an item in place of its index: `containers[main]`.
    """

    path: FieldPath
    before: Any
    after: Any


_NAMES = ("name", "mountPath", "containerPort", "key", "type")
"""Fields that identify the items of a list, best first."""


def differences(before: Any, after: Any, path: FieldPath = ()) -> Iterator[Field]:
    """Yield the deepest fields that differ, sorted by name; `path` is that of the two values.

    Strings that are JSON on both sides are parsed.
    """
    if before == after:
        return
    old, new = opened(before), opened(after)
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key, Nothing.HERE), new.get(key, Nothing.HERE), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and (name := naming(old, new)):
        yield from differences(_by_name(old, name), _by_name(new, name), path)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, (*path, index))
    else:
        yield Field(path, before, after)


def opened(value: Any) -> Any:
    """Return the value of a string that is a JSON object or list; return any other value unchanged."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def with_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Return plain data in which `change` has replaced each string, except keys."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_strings(item, change) for item in value]
    if isinstance(value, dict):
        return {key: with_strings(item, change) for key, item in value.items()}
    return value


def naming(*lists: list[Any]) -> str | None:
    """Return the name of a field by whose values the items of each list are told apart; None if there is none."""
    return next((name for name in _NAMES if all(_tells_apart(each, name) for each in lists)), None)


def _tells_apart(items: list[Any], name: str) -> bool:
    found = [item.get(name) for item in items if isinstance(item, dict)]
    return len(found) == len(items) and None not in found and len(set(map(str, found))) == len(found)


def _by_name(items: list[Mapping[str, Any]], name: str) -> dict[str, Any]:
    return {f"{item[name]}": item for item in items}
