"""Which fields of two objects differ."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from stowplan.schema.diagnostics import FieldPath


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
    old, new = _opened(before), _opened(after)
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(old.get(key, Nothing.HERE), new.get(key, Nothing.HERE), (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and (name := _name(old, new)):
        yield from differences(_by_name(old, name), _by_name(new, name), path)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, (*path, index))
    else:
        yield Field(path, before, after)


def _opened(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _name(*lists: list[Any]) -> str | None:
    """The field by which the items of all lists can be told apart."""
    for name in _NAMES:
        found = [[item.get(name) for item in each if isinstance(item, dict)] for each in lists]
        whole = all(len(names) == len(each) for names, each in zip(found, lists, strict=True))
        if whole and all(None not in names and len(set(map(str, names))) == len(names) for names in found):
            return name
    return None


def _by_name(items: list[Mapping[str, Any]], name: str) -> dict[str, Any]:
    return {f"{item[name]}": item for item in items}
