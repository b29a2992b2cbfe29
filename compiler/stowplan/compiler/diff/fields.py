"""Which fields of two objects differ."""

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.frozen import dataclass


class Nothing(Enum):
    """A field that is not there, which is not the same as null."""

    HERE = "nothing"


@dataclass(frozen=True, slots=True)
class Field:
    """One field that differs. In a list whose items have names, an item's place is its name: `containers[main]`."""

    path: FieldPath
    before: Any
    after: Any


_NAMES = ("name", "mountPath", "containerPort", "key", "type")
"""Fields that tell the items of a list from each other, best first."""


def differences(before: Any, after: Any, path: FieldPath = ()) -> Iterator[Field]:
    """The deepest fields that differ, in the order of keys. Text that is JSON on both sides is looked into."""
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
    """What a text says that is JSON; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def naming(*lists: list[Any]) -> str | None:
    """The field by which the items of all lists can be told apart."""
    return next((name for name in _NAMES if all(_tells_apart(each, name) for each in lists)), None)


def _tells_apart(items: list[Any], name: str) -> bool:
    found = [item.get(name) for item in items if isinstance(item, dict)]
    return len(found) == len(items) and None not in found and len(set(map(str, found))) == len(found)


def _by_name(items: list[Mapping[str, Any]], name: str) -> dict[str, Any]:
    return {f"{item[name]}": item for item in items}
