"""Lists that server-side apply merges by key: no two of their items may have the same key.

An apply with two such items is refused (structured-merge-diff, all supported versions). As a rule of the validator this
calls Python for each list, which takes as long as all its own rules for the object. So it is found once where a schema
has such lists, and only they are looked at; the rule is asked only where one of them may repeat a key.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

LIST_MAP_KEYS = "x-kubernetes-list-map-keys"

_DEFAULTS = {"protocol": "TCP"}
"""What a missing key counts as, by the OpenAPI document."""
_PARTS = frozenset({LIST_MAP_KEYS, "properties", "patternProperties", "additionalProperties", "items"})
_LISTS_OF_SCHEMAS = ("allOf", "anyOf", "oneOf")
_SCHEMAS = ("not", "if", "then", "else")
_SAME = frozenset({"$ref", *_LISTS_OF_SCHEMAS, *_SCHEMAS})
"""Keywords with other schemas for the same value."""
_LEADING = _PARTS | _SAME

_Test = Callable[[list[Any]], bool]


def key_of(item: dict[str, Any], names: Iterable[str]) -> tuple[str, ...]:
    """The values by which an item is told from others, as texts."""
    return tuple([str(item.get(name, _DEFAULTS.get(name, ""))) for name in names])


class KeyedLists:
    """Where in a value a schema has lists with keys, those of its conditions and alternatives among them."""

    __slots__ = ("_fields", "_items", "_repeats", "_values")

    def __init__(self) -> None:
        self._repeats: _Test | None = None
        self._fields: list[tuple[str, KeyedLists]] = []
        self._values: KeyedLists | None = None
        self._items: KeyedLists | None = None

    def __bool__(self) -> bool:
        return bool(self._repeats or self._fields or self._values or self._items)

    def may_repeat(self, value: Any) -> bool:
        """Whether any of the lists may have two items with the same key; where it says no, none has."""
        try:
            return self._may_repeat(value)
        except (AttributeError, KeyError, TypeError):  # an item without the key, or with one that is no text
            return True

    def _may_repeat(self, value: Any) -> bool:
        if isinstance(value, dict):
            for name, below in self._fields:
                if name in value and below._may_repeat(value[name]):
                    return True
            return self._values is not None and any(map(self._values.may_repeat, value.values()))
        if isinstance(value, list):
            if len(value) > 1 and self._repeats is not None and self._repeats(value):
                return True
            return self._items is not None and any(map(self._items._may_repeat, value))
        return False

    @classmethod
    def of(cls, schema: dict[str, Any], known: "KnownLists | None" = None) -> "KeyedLists | None":
        """Those of a schema; None where it has none. Its references lead to its `$defs`.

        Schemas whose `$defs` are the same objects may share what is `known` of them, as long as all of them live.
        """
        return cls._found([schema], schema, {} if known is None else known)

    @classmethod
    def _found(cls, schemas: Sequence[Any], root: dict[str, Any], known: "KnownLists") -> "KeyedLists | None":
        """Those of a value that some schemas are about. `known` ends the search where schemas lead to themselves."""
        about = {id(each): each for schema in schemas for each in _about_the_same(schema, root)}
        place = frozenset(about)
        if place in known or not about:
            return known.get(place)
        own = known[place] = cls()
        fields: dict[str, list[Any]] = {}
        keys, values, items = list[Sequence[str]](), list[Any](), list[Any]()
        for schema in about.values():
            keys += [schema[LIST_MAP_KEYS]] if LIST_MAP_KEYS in schema else []
            for name, below in schema.get("properties", {}).items():
                if _leads(below):
                    fields.setdefault(name, []).append(below)
            values += [*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")]
            items.append(schema.get("items"))
        own._repeats = _any_of([_test(names) for names in keys])
        found = ((name, cls._found(below, root, known)) for name, below in fields.items())
        own._fields = [(name, below) for name, below in found if below is not None]
        own._values, own._items = cls._found(values, root, known), cls._found(items, root, known)
        known[place] = own or None
        return known[place]


KnownLists = dict[frozenset[int], KeyedLists | None]
"""What was found, by the identities of the schemas that are about the same value."""


def _about_the_same(schema: Any, root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas that say something of the parts of a value that one is about."""
    waiting, seen = [schema], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen or not _leads(each):
            continue
        seen.add(id(each))
        if not _PARTS.isdisjoint(each):
            yield each
        if _SAME.isdisjoint(each):
            continue
        if "$ref" in each:
            waiting.append(root["$defs"][each["$ref"].rpartition("/")[2]])
        waiting += [other for keyword in _LISTS_OF_SCHEMAS for other in each.get(keyword, ())]
        waiting += [each[keyword] for keyword in _SCHEMAS if keyword in each]


def _leads(schema: Any) -> bool:
    """Whether a schema may have such lists somewhere; most have none."""
    return isinstance(schema, dict) and not _LEADING.isdisjoint(schema)


def _any_of(tests: Sequence[_Test]) -> _Test | None:
    if len(tests) > 1:
        return lambda items: any(test(items) for test in tests)
    return tests[0] if tests else None


def _test(names: Sequence[str]) -> _Test:
    """Whether two of some items may have the same values of these fields."""
    if len(names) != 1:
        return lambda items: len({key_of(item, names) for item in items}) < len(items)
    value = itemgetter(*names)

    def may_repeat(items: list[Any]) -> bool:
        found = set(map(value, items))
        "".join(found)  # only of texts, since as texts, 1 and "1" are the same
        return len(found) < len(items)

    return may_repeat
