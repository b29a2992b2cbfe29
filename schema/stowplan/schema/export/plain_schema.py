"""Plain JSON Schema of a model, from which CRDs and editor schemas are made.

Pydantic (2.11 to 2.14) writes references, a title for every field and a null for every optional field. These do not
help readers, and Kubernetes refuses most of them, so they are removed.
"""

from typing import Any

from stowplan.schema.meta import Model

Schema = dict[str, Any]

INT_OR_STRING = "x-kubernetes-int-or-string"
"""Keyword of the only union of types that Kubernetes allows. A schema with this keyword is not changed."""

_DEFINITIONS = "#/$defs/"
_NULL: Schema = {"type": "null"}


def plain_schema(model: type[Model]) -> Schema:
    """Return the schema of `model` without `$ref`, `const`, nulls and titles.

    An optional field may be left out; an explicit null, which Kubernetes drops, is not offered. A default that is a
    mapping stays only if its fields have no defaults of their own. A union of several types, or a model that contains
    itself, is a bug of Stowplan: it has no structural schema.
    """
    schema = model.model_json_schema()
    return _plain(schema, schema.pop("$defs", {}))


def _plain(node: Schema, definitions: dict[str, Schema]) -> Schema:
    if node.get(INT_OR_STRING):
        return node
    if "$ref" in node:
        others = {key: value for key, value in node.items() if key != "$ref"}
        return _plain(definitions[node["$ref"].removeprefix(_DEFINITIONS)] | others, definitions)
    if "anyOf" in node:
        others = {key: value for key, value in node.items() if key != "anyOf"}
        (only,) = (branch for branch in node["anyOf"] if branch != _NULL)
        return _plain(only | others, definitions)
    plain = {key: value for key, value in node.items() if key not in {"title", "const", "default"}}
    if "const" in node:
        plain["enum"] = [node["const"]]
    if _worth_showing(node):
        plain["default"] = node["default"]
    plain |= _mapping(plain.pop("patternProperties", {}), plain)
    for key in ("items", "additionalProperties"):
        if isinstance(plain.get(key), dict):
            plain[key] = _plain(plain[key], definitions)
    if "properties" in node:
        plain["properties"] = {name: _plain(child, definitions) for name, child in node["properties"].items()}
    return plain


def _mapping(patterns: dict[str, Schema], node: Schema) -> Schema:
    """Return the keywords of a mapping whose keys have a pattern: one for the keys, one for the values.

    Pydantic writes `patternProperties`, which allows any value under other keys, and which Kubernetes refuses.
    """
    if not patterns:
        return {}
    ((pattern, values),) = patterns.items()
    return {"propertyNames": node.get("propertyNames", {}) | {"pattern": pattern}, "additionalProperties": values}


def _worth_showing(node: Schema) -> bool:
    default = node.get("default")
    return default is not None and (not isinstance(default, dict) or "required" in node)
