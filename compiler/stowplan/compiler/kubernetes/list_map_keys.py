"""Lists that server-side apply merges by key: no two of their items may have the same key.

An apply with two such items is refused (structured-merge-diff, all supported versions). The validator calls Python for
a rule of ours, which takes as long as all other rules for the object together. So a cheap search for repeated keys goes
first, and the rule is only asked where that search finds some.
"""

from collections.abc import Iterable, Mapping
from typing import Any

LIST_MAP_KEYS = "x-kubernetes-list-map-keys"

_DEFAULTS = {"protocol": "TCP"}
"""The values of missing keys, by the OpenAPI document."""
_ANYWHERE = ""
"""In place of a field's name, for lists that are not the value of a field."""

KeyedLists = Mapping[str, frozenset[tuple[str, ...]]]
"""The keys that lists below a field of some name may have, by that name. Fields in several places may share a name."""


def keyed_lists(schema: Any) -> KeyedLists:
    """The lists with keys anywhere in a schema; its conditions and alternatives count as if they always held."""
    found: dict[str, frozenset[tuple[str, ...]]] = {}
    waiting = [(schema, _ANYWHERE)]
    while waiting:
        node, name = waiting.pop()
        if isinstance(node, list):
            waiting += [(each, name) for each in node]
        elif isinstance(node, dict):
            for keyword, value in node.items():
                match keyword:
                    case "x-kubernetes-list-map-keys":
                        found[name] = found.get(name, frozenset()) | {tuple(value)}
                    case "properties":
                        waiting += [(each, below) for below, each in value.items()]
                    case "patternProperties" | "$defs":
                        waiting += [(each, _ANYWHERE) for each in value.values()]
                    case "items" | "additionalProperties":
                        waiting.append((value, _ANYWHERE))
                    case "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else":
                        waiting.append((value, name))
    return found


def may_repeat(value: Any, lists: KeyedLists, field: str = _ANYWHERE) -> bool:
    """Whether a list in `value` may have two items with the same key. A refusal needs the rule itself."""
    if isinstance(value, dict):
        return any(may_repeat(below, lists, name) for name, below in value.items() if isinstance(below, dict | list))
    if not isinstance(value, list):
        return False
    if len(value) > 1:
        keys = lists.get(field, frozenset()) | lists.get(_ANYWHERE, frozenset())
        if any(repeated(value, names) for names in keys):
            return True
    return any(may_repeat(item, lists) for item in value if isinstance(item, dict | list))


def repeated(items: list[Any], names: Iterable[str]) -> tuple[str, ...] | None:
    """The first key that two items have; None where there is none. Items that are no mappings have no key."""
    seen = set()
    for item in items:
        if isinstance(item, dict):
            key = tuple([str(item.get(name, _DEFAULTS.get(name, ""))) for name in names])
            if key in seen:
                return key
            seen.add(key)
    return None
