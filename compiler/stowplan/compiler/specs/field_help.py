"""Help about the fields of the kinds, in the style of `kubectl explain`, from the descriptions that editors show."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stowplan.schema.diagnostics import did_you_mean
from stowplan.schema.export import json_schema
from stowplan.schema.export.plain_schema import INT_OR_STRING, Schema, plain_schema

_INDEX = re.compile(r"\[[^\]]*\]")
"""The index of an item or the key of a map, as diagnostics write it: `spec.cache.tiers[0]`."""

KINDS = {model.__name__.lower(): model for model in json_schema.MODELS}


class FieldText(NamedTuple):
    """Description of one field: its path below the model, its type, whether it must be given, and its description.

    `limits` are sentences about its values, such as `One of: a, b.` and `Default: a.`; empty if there are none.
    """

    path: str
    type: str
    required: bool
    text: str
    limits: tuple[str, ...]


def every_field(schema: Schema, above: str = "") -> Iterator[FieldText]:
    """Yield all fields below a schema, each followed by the fields below it, in the order of the model.

    `above` is the dotted path of the schema, with which the paths of the fields begin; empty for a whole model.
    """
    required = _required(schema)
    for name, below in _fields(schema).items():
        path = f"{above}.{name}" if above else name
        limits = tuple(line.strip() for line in _limits(below))
        yield FieldText(path, _type(below), name in required, below.get("description", ""), limits)
        yield from every_field(below, path)


def kinds() -> list[str]:
    """Return the names of all kinds, sorted."""
    return sorted(model.__name__ for model in KINDS.values())


def field_help(name: str) -> list[str] | None:
    """Return lines about a kind or a field, such as `SampleSet` or `sampleset.spec.cache`; None if it does not exist.

    Case is ignored. Items of lists need no index: `sampleset.spec.cache.levels.path`.
    """
    path, schema, missing = _found(name)
    return list(_lines(path, schema)) if path and missing is None else None


def suggestion(name: str) -> str | None:
    """Return a sentence on what the name of a field that does not exist probably means; None if nothing is similar."""
    path, schema, missing = _found(name)
    if path and missing is not None:
        known = _fields(schema)
        return f'{path} has no field "{missing}". {did_you_mean(missing, known)}' if known else f"{path} has no fields."
    places = (f"{kind}{between}{name}" for kind in kinds() for between in (".", ".spec."))
    meant = [found for found, _, missing in map(_found, places) if missing is None]
    return f"Did you mean {' or '.join(meant)}?" if meant else None


def _found(name: str) -> tuple[str, Schema, str | None]:
    """Return path and schema of the last part of a name that exists, and the part that does not; None if all do.

    The path is empty if the name does not begin with a kind.
    """
    first, *rest = _INDEX.sub("", name).split(".")
    model = KINDS.get(first.lower())
    if model is None:
        return "", {}, first
    schema, path = plain_schema(model), model.__name__
    for part in rest:
        found = _property(schema, part)
        if found is None:
            return path, schema, part
        key, schema = found
        path = f"{path}.{key}"
    return path, schema, None


def _property(schema: Schema, name: str) -> tuple[str, Schema] | None:
    known = _fields(schema)
    return next(((key, below) for key, below in known.items() if key.lower() == name.lower()), None)


def _fields(schema: Schema) -> Mapping[str, Schema]:
    """Return the schemas of fields by name: those of an object, of the objects in a list, or of the values of a map."""
    fields: Mapping[str, Schema] = _with_fields(schema).get("properties", {})
    return fields


def _required(schema: Schema) -> frozenset[str]:
    return frozenset(_with_fields(schema).get("required", ()))


def _with_fields(schema: Schema) -> Schema:
    """Return the schema of the object, of the objects in a list, or of the values of a map; empty without fields."""
    while "properties" not in schema:
        below = schema.get("items") or schema.get("additionalProperties")
        if not isinstance(below, dict):
            return {}
        schema = below
    return schema


def _lines(path: str, schema: Schema) -> Iterator[str]:
    yield f"{path}: {_type(schema)}"
    if text := schema.get("description"):
        yield ""
        yield from (f"  {line}" if line else "" for line in text.split("\n"))
    yield from _limits(schema)
    fields, required = _fields(schema), _required(schema)
    if fields:
        yield ""
        yield "Fields:"
    for name, below in fields.items():
        yield f"  {name}: {_type(below)}{', required' if name in required else ''}"
        if text := below.get("description"):
            yield f"      {text.split(chr(10))[0]}"
    inner = [name for name, below in fields.items() if _fields(below)]
    if inner:
        yield ""
        yield f"More of a field: stowplan explain {path}.{'spec' if 'spec' in inner else inner[0]}"


def _limits(schema: Schema) -> Iterator[str]:
    """Yield a line with the allowed values and one with the default, if the schema has them."""
    values = [str(value) for value in schema.get("enum", ())]
    if len(values) > 1:
        yield f"  One of: {', '.join(values)}."
    elif values and values[0] not in schema.get("description", ""):
        yield f"  Always: {values[0]}."
    if schema.get("default") not in (None, {}, []):
        yield f"  Default: {schema['default']}."


def _type(schema: Schema) -> str:
    if schema.get(INT_OR_STRING):
        return "integer or string"
    if isinstance(schema.get("items"), dict):
        return f"list of {_type(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"map of {_type(schema['additionalProperties'])}"
    return str(schema.get("type", "any value"))
