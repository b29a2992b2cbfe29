"""Check of plain data against a JSON schema, with Stowplan's messages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jsonschema_rs

from stowplan.compiler.kubernetes.list_map_keys import LIST_MAP_KEYS, UniqueKeys
from stowplan.schema.diagnostics import Anchor, FieldPath, did_you_mean, nearest
from stowplan.schema.wording import (
    ANY_TEXT,
    LIMITS,
    TYPES,
    beyond,
    describe,
    found_but,
    mistyped,
    not_an_option,
    wrong_form,
)

JsonSchema = dict[str, Any]

FORM = "title"
"""Keyword of Stowplan's schemas for a short string, which messages show instead of the rule that failed.

The string is the form that a value must have, or the reason why a field is required.
"""


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

    @property
    def anchor(self) -> Anchor:
        """What the diagnostic is located at: the key of the field if its name is wrong, else the value."""
        return Anchor.KEY if self.keyword in ("additionalProperties", "propertyNames") else Anchor.VALUE


class Checker:
    """A compiled schema. Build once (milliseconds; `ValueError` if it is invalid), use often (microseconds)."""

    def __init__(self, schema: JsonSchema) -> None:
        self._schema = schema
        # The linear-time engine for patterns: the API server uses RE2, which has no look-around either.
        options = jsonschema_rs.RegexOptions()
        self._validator = jsonschema_rs.Draft202012Validator(
            schema, validate_formats=True, pattern_options=options, keywords={LIST_MAP_KEYS: UniqueKeys}
        )

    def problems(self, value: Any) -> list[SchemaProblem]:
        """Return all problems of plain data, sorted by path; empty for valid data."""
        try:
            if self._validator.is_valid(value):
                return []
            errors = list(self._validator.iter_errors(value))
        except UnicodeEncodeError:
            message = "A string holds half of a surrogate pair, which UTF-8 cannot write."
            return [SchemaProblem((), "type", message, "Remove the character.")]
        meant = {path for error in errors for path in self._meant(error)}
        found = {p for error in errors for p in self._explain(error)}
        reported = (p for p in found if not (p.keyword == "required" and p.path in meant))
        return sorted(reported, key=lambda p: ([str(part) for part in p.path], p.keyword, p.message))

    def _meant(self, error: jsonschema_rs.ValidationError) -> Iterator[FieldPath]:
        """Yield the paths of fields that the user probably meant by unknown names in `error`.

        Such a field is not reported as missing, because its misspelling is reported.
        """
        if error.kind.name == "additionalProperties":
            for name in error.kind.value:
                yield (*error.instance_path, nearest(name, self._known(error.schema_path)) or name)

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
        secret = path[:1] in (("data",), ("stringData",))
        key = str(path[-1]) if path else ""
        message, hint = _wording(error.kind, error.instance, schema, key, secret=secret)
        return [SchemaProblem(path, error.kind.name, message, hint)]

    def _unknown(self, path: FieldPath, name: str, schema_path: list[str | int]) -> SchemaProblem:
        where = str(schema_path[-2]).rpartition(".")[2] if "$defs" in schema_path[:1] else ""
        message = f'"{name}" is not a field of {where}.' if where else f'"{name}" is not a field here.'
        hint = did_you_mean(name, self._known(schema_path))
        return SchemaProblem((*path, name), "additionalProperties", message, hint)

    def _known(self, schema_path: list[str | int]) -> JsonSchema:
        """Return the fields, by name, of the schema that refuses others; `schema_path` is the path of that rule."""
        known: JsonSchema = self._at(schema_path[:-1]).get("properties", {})
        return known

    def _at(self, schema_path: list[str | int]) -> JsonSchema:
        node: Any = self._schema
        for part in schema_path:
            node = node[part]
        return node if isinstance(node, dict) else {}


def _wording(
    kind: jsonschema_rs.ValidationErrorKind, value: Any, schema: JsonSchema, key: str, *, secret: bool
) -> tuple[str, str]:
    """Return message and hint for an error in the value of `key`. With `secret`, no message shows the value."""
    form = schema.get(FORM)
    if secret:
        return found_but(_kind(value), form or ANY_TEXT)
    if form and kind.name not in ("type", "enum"):
        return found_but(describe(value), form)
    return _rule(kind.name, kind.value, value, key)


def _rule(keyword: str, allowed: Any, value: Any, key: str) -> tuple[str, str]:
    """Return message and hint for a value that breaks the rule `keyword: allowed` of its schema."""
    match keyword:
        case "type":
            types = " or ".join(TYPES[name] for name in sorted(allowed) if name != "null")
            return mistyped(value, types, key=key)
        case "enum":
            return not_an_option(value, [option for option in allowed if option not in (None, "")])
        case "pattern":
            return wrong_form(value, allowed)
        case "x-kubernetes-list-map-keys":
            return f"Two items have {allowed}; server-side apply refuses that.", "Keep one of them."
        case _ if keyword in LIMITS:
            return beyond(value, keyword, allowed)
    message = f'Found {describe(value)}, which breaks the rule "{keyword}" of its schema.'
    return message, "See the reference of this field."


def _kind(value: Any) -> str:
    match value:
        case str():
            return ANY_TEXT
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case _:
            return describe(value)
