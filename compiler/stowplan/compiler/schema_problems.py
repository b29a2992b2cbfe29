"""What is wrong with plain data by a JSON schema, in our own words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from stowplan.schema.diagnostics import FieldPath, did_you_mean

JsonSchema = dict[str, Any]

LIST_MAP_KEYS = "x-kubernetes-list-map-keys"
FORM = "title"
"""Keyword whose text says in a few words what a value must look like, or why a field is required; messages show it
instead of the rule itself."""

_SHOWN = 60
_TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "a text",
}
_DEFAULT_KEYS = {"protocol": "TCP"}


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """One way in which a value does not fit its schema.

    `path` leads from the value's root to the field; for a missing field it ends in its name. `keyword` is the rule of
    JSON Schema that failed: `additionalProperties` for an unknown field, `required`, `type`, `enum`, …
    """

    path: FieldPath
    keyword: str
    message: str
    hint: str


class _UniqueKeys:
    """The rule of a list that server-side apply merges by key: no two items have the same key.

    An apply with two such items is refused (structured-merge-diff, all supported versions); a missing `protocol`
    counts as TCP, as its OpenAPI default says.
    """

    def __init__(self, _parent: JsonSchema, keys: list[str], _path: list[str | int]) -> None:
        self._keys = keys

    def validate(self, items: Any) -> None:
        seen = set()
        for item in items if isinstance(items, list) else ():
            if not isinstance(item, dict):
                continue
            key = tuple((k, str(item.get(k, _DEFAULT_KEYS.get(k, "")))) for k in self._keys)
            if key in seen:
                raise ValueError(" and ".join(f'{name} "{value}"' for name, value in key))
            seen.add(key)


class Checker:
    """A compiled schema. Build once, use often: building costs milliseconds, checking microseconds."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema
        self._validator = jsonschema_rs.Draft202012Validator(
            schema,
            validate_formats=True,
            # The linear-time engine: the server's patterns are RE2, which has no look-around either.
            pattern_options=jsonschema_rs.RegexOptions(),
            keywords={LIST_MAP_KEYS: _UniqueKeys},
        )

    def problems(self, value: Any) -> list[SchemaProblem]:
        """All problems of plain data, sorted by path; empty where it fits."""
        try:
            if self._validator.is_valid(value):
                return []
            found = [p for error in self._validator.iter_errors(value) for p in self._explain(error)]
        except UnicodeEncodeError:
            message = "A text holds half of a surrogate pair, which UTF-8 cannot write."
            return [SchemaProblem((), "type", message, "Remove the character.")]
        return sorted(set(found), key=lambda p: ([str(part) for part in p.path], p.keyword, p.message))

    def _explain(self, error: jsonschema_rs.ValidationError) -> list[SchemaProblem]:
        path: FieldPath = tuple(error.instance_path)
        if error.kind.name == "additionalProperties":
            return [self._unknown(path, name, error.schema_path) for name in sorted(error.kind.value)]
        schema = self._at(error.schema_path[:-1])
        if error.kind.name == "required":
            name = str(error.kind.value)
            needed = schema.get(FORM, "it is required")
            message = f'The field "{name}" is missing; {needed}.'
            return [SchemaProblem((*path, name), "required", message, f'Add "{name}".')]
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.PropertyNames):
            name = str(error.kind.error.instance)
            message = f'The key "{name}" is not allowed; allowed is {schema.get(FORM, "another form")}.'
            return [SchemaProblem((*path, name), "propertyNames", message, "Change the key.")]
        hidden = "data" in path[:1] or "stringData" in path[:1]
        found = _TYPES[_type_name(error.instance)] if hidden else describe(error.instance)
        message, hint = _wording(error.kind, found, error.instance, schema)
        return [SchemaProblem(path, error.kind.name, message, hint)]

    def _unknown(self, path: FieldPath, name: str, schema_path: list[str | int]) -> SchemaProblem:
        where = str(schema_path[-2]).rpartition(".")[2] if "$defs" in schema_path[:1] else ""
        message = f'"{name}" is not a field of {where}.' if where else f'"{name}" is not a field here.'
        known = self._at(schema_path[:-1]).get("properties", {})
        return SchemaProblem((*path, name), "additionalProperties", message, did_you_mean(name, known))

    def _at(self, schema_path: list[str | int]) -> JsonSchema:
        node: Any = self._schema
        for part in schema_path:
            node = node[part]
        return node if isinstance(node, dict) else {}


def describe(value: Any) -> str:
    """A value as messages show it: scalars with their text, cut where long; only the type of mappings and lists."""
    if isinstance(value, str):
        text = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
        return f'the text "{text}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"the number {value}"
    return _TYPES[_type_name(value)]


def _type_name(value: Any) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object", list: "array"}
    return names.get(type(value), "null")


def _wording(kind: jsonschema_rs.ValidationErrorKind, found: str, value: Any, schema: JsonSchema) -> tuple[str, str]:
    form = schema.get(FORM)
    if form and kind.name not in ("type", "enum"):
        return f"Found {found}; allowed is {form}.", f"Give {form}."
    write = _WORDINGS.get(kind.name)
    if write:
        return write(found, kind.value, value)
    if kind.name == "pattern":
        return f"Found {found}, which does not match {kind.value}.", "Give a value of that form."
    return f'Found {found}, which breaks the rule "{kind.name}" of its schema.', "See the reference of this field."


def _wrong_type(found: str, types: list[str], _value: Any) -> tuple[str, str]:
    allowed = " or ".join(_TYPES[name] for name in sorted(types) if name != "null")
    quoted = found.startswith("the text") and "string" not in types
    hint = "Write it without quotes." if quoted else f"Give {allowed}."
    return f"Found {found}; allowed is {allowed}.", hint


def _not_in_enum(found: str, options: list[Any], value: Any) -> tuple[str, str]:
    words = [str(option) for option in options if option not in (None, "")]
    allowed = ", ".join(f'"{word}"' for word in words)
    return f"Found {found}; allowed is {allowed}.", did_you_mean(str(value), words)


def _limit(text: str) -> Callable[[str, Any, Any], tuple[str, str]]:
    def write(found: str, limit: Any, _value: Any) -> tuple[str, str]:
        allowed = text.format(limit)
        return f"Found {found}; allowed is {allowed}.", f"Give {allowed}."

    return write


def _duplicate(_found: str, key: str, _value: Any) -> tuple[str, str]:
    return f"Two items have {key}; server-side apply refuses that.", "Keep one of them."


_WORDINGS: dict[str, Callable[[str, Any, Any], tuple[str, str]]] = {
    "type": _wrong_type,
    "enum": _not_in_enum,
    "minimum": _limit("a number of at least {}"),
    "maximum": _limit("a number of at most {}"),
    "minLength": _limit("a text of at least {} characters"),
    "maxLength": _limit("a text of at most {} characters"),
    "minItems": _limit("a list of at least {} items"),
    "maxItems": _limit("a list of at most {} items"),
    LIST_MAP_KEYS: _duplicate,
}
