"""Checks of a CRD's schema by the rules of Kubernetes' API server.

The rules are those of apiextensions.k8s.io/v1: `ValidateStructural` and `ValidateCustomResourceDefinitionOpenAPISchema`
of k8s.io/apiextensions-apiserver 0.37. A junctor is one of the keywords allOf, anyOf, oneOf and not. One rule is
stricter here: the documentation says for every level that a junctor may only narrow what is declared outside of it, but
0.37 checks only the root's junctors. CEL rules and defaults are not checked. Check a CRD against the official schema of
CustomResourceDefinition first: it defines the type of each keyword's value.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.export.plain_schema import Schema

Problem = tuple[FieldPath, str]
"""Path from the root of the checked value, and a sentence: what was found and what is allowed."""

MAX_BYTES = 262_144
"""Maximum size of all annotations of one object in bytes. `kubectl apply` puts the whole object into one of them."""

_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_EMBEDDED = "x-kubernetes-embedded-resource"
_LIST_TYPE = "x-kubernetes-list-type"
_LIST_MAP_KEYS = "x-kubernetes-list-map-keys"
_MAP_TYPE = "x-kubernetes-map-type"
_RULES = "x-kubernetes-validations"

_OUTSIDE_ONLY = frozenset(
    {"additionalProperties", "default", "description", "nullable", "title", "type"}
    | {_PRESERVE, _INT_OR_STRING, _EMBEDDED, _LIST_TYPE, _LIST_MAP_KEYS, _MAP_TYPE, _RULES}
)
"""Keywords that define a value's shape. They are not allowed in a junctor, which may only narrow the shape."""

_KNOWN = _OUTSIDE_ONLY | frozenset(
    "allOf anyOf enum example exclusiveMaximum exclusiveMinimum externalDocs format items maxItems maxLength "
    "maxProperties maximum minItems minLength minProperties minimum multipleOf not oneOf pattern properties required "
    "uniqueItems".split()
)

_TOPOLOGY = ((_LIST_TYPE, "array", ("atomic", "map", "set")), (_MAP_TYPE, "object", ("atomic", "granular")))
_INTEGER_OR_STRING = [{"type": "integer"}, {"type": "string"}]
_ESCAPE = re.compile(r"\\[^1-9k]")
_CHARACTER_CLASS = re.compile(r"\[\^?\]?[^]]*\]")
_NOT_IN_RE2 = re.compile(r"\(\?(?:<?[=!]|>|\(|P[=>])|\\[1-9k]")


def problems(schema: Schema) -> list[Problem]:
    """Return the problems of `schema`, an `openAPIV3Schema`, that the API server would report."""
    return [*_root(schema), *_node(schema, ())]


def size(definition: dict[str, Any]) -> int:
    """Return the size of a CRD as compact JSON in bytes."""
    return len(json.dumps(definition, ensure_ascii=False, separators=(",", ":")).encode())


def size_problems(definition: dict[str, Any]) -> list[Problem]:
    """Return a list with a problem if a CRD is too large for client-side `kubectl apply`, else an empty one."""
    found = size(definition)
    return [((), f"has {found} bytes as JSON; at most {MAX_BYTES} fit")] if found > MAX_BYTES else []


def _root(schema: Schema) -> Iterator[Problem]:
    if schema.get("type", "object") != "object":
        yield ("type",), f"found {schema['type']}; the root is an object"
    for key in ("additionalProperties", "nullable"):
        if schema.get(key):
            yield (key,), f"{key} is not allowed at the root"
    properties = schema.get("properties", {})
    for name, wanted in (("apiVersion", "string"), ("kind", "string"), ("metadata", "object")):
        found = properties.get(name, {}).get("type", wanted)
        if found != wanted:
            yield ("properties", name, "type"), f"found {found}; at the root {name} is of type {wanted}"
    metadata = properties.get("metadata", {})
    more = metadata.keys() - {"type", "default", "properties"}
    more |= metadata.get("properties", {}).keys() - {"name", "generateName"}
    if more:
        path = ("properties", "metadata")
        yield path, f"found {', '.join(sorted(more))}; only properties name and generateName are allowed here"


def _node(node: Schema, path: FieldPath) -> Iterator[Problem]:
    """Yield the problems of a schema outside of junctors, and of all schemas below it."""
    yield from _keywords(node, path, _KNOWN)
    yield from _type(node, path)
    yield from _extensions(node, path)
    yield from _list_map(node, path)
    for branch, place in _branches(node, path):
        yield from _branch(branch, node, place)
    for child, place in _children(node, path):
        yield from _node(child, place)


def _branch(branch: Schema, outer: Schema, path: FieldPath) -> Iterator[Problem]:
    """Yield the problems of one branch of a junctor. `outer` is the schema outside of junctors for the same value."""
    yield from _keywords(branch, path, _KNOWN - _OUTSIDE_ONLY)
    if "metadata" in branch.get("properties", {}):
        yield (*path, "properties", "metadata"), "metadata is not allowed inside a junctor"
    for inner, place in _branches(branch, path):
        yield from _branch(inner, outer, place)
    declared = {place: child for child, place in _children(outer, ())}
    for child, place in _children(branch, path):
        twin = declared.get(place[len(path) :])
        if twin is None:
            yield place, "is not declared outside of the junctor as well"
        else:
            yield from _branch(child, twin, place)


def _keywords(node: Schema, path: FieldPath, allowed: frozenset[str]) -> Iterator[Problem]:
    for key in sorted(node.keys() - allowed):
        where = "inside a junctor" if key in _KNOWN else "in a CRD"
        yield (*path, key), f"{key} is not allowed {where}"
    if node.get("uniqueItems"):
        yield (*path, "uniqueItems"), "uniqueItems must not be true; x-kubernetes-list-type: set is allowed"
    more = node.get("additionalProperties")
    if node.get("properties") and (more is False or isinstance(more, dict)):
        yield (*path, "additionalProperties"), "found together with properties; unknown fields are pruned, not refused"
    pattern = _CHARACTER_CLASS.sub("", _ESCAPE.sub("x", node.get("pattern", "")))
    if _NOT_IN_RE2.search(pattern):
        yield (*path, "pattern"), f"{node['pattern']} looks around or back; the API server's RE2 cannot"


def _type(node: Schema, path: FieldPath) -> Iterator[Problem]:
    found = node.get("type")
    if found is None and not node.get(_INT_OR_STRING) and not node.get(_PRESERVE):
        yield path, f"has no type; one of {', '.join(_TYPES)} is needed"
    elif found is not None and found not in _TYPES:
        yield (*path, "type"), f"found {found}; one of {', '.join(_TYPES)} is allowed"
    if found == "array" and "items" not in node:
        yield path, "is an array without items"
    if isinstance(node.get("items"), list):
        yield (*path, "items"), "found a list; one schema for all items is allowed"


def _extensions(node: Schema, path: FieldPath) -> Iterator[Problem]:
    if node.get(_PRESERVE) is False:
        yield (*path, _PRESERVE), "found false; only true is allowed"
    if node.get(_INT_OR_STRING) and (node.get(_PRESERVE) or node.get(_EMBEDDED)):
        yield path, f"{_INT_OR_STRING} excludes {_PRESERVE} and {_EMBEDDED}"
    if node.get(_EMBEDDED) and (node.get("type") != "object" or not (node.get(_PRESERVE) or node.get("properties"))):
        yield path, f"{_EMBEDDED} needs type object, and properties or {_PRESERVE}"
    for keyword, wanted, values in _TOPOLOGY:
        if keyword in node and node.get("type") != wanted:
            yield (*path, keyword), f"needs type {wanted}"
        if node.get(keyword, values[0]) not in values:
            yield (*path, keyword), f"found {node[keyword]}; one of {', '.join(values)} is allowed"
    items = _items(node)
    if node.get(_LIST_TYPE) == "set" and items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        yield (*path, "items"), f"objects in a set need {_MAP_TYPE}: atomic"


def _list_map(node: Schema, path: FieldPath) -> Iterator[Problem]:
    keys, items = node.get(_LIST_MAP_KEYS, []), _items(node)
    if (node.get(_LIST_TYPE) == "map") != bool(keys):
        yield path, f"{_LIST_TYPE}: map and {_LIST_MAP_KEYS} need each other"
    if keys and items.get("type") != "object":
        yield (*path, "items"), "the items of a list map are objects"
        return
    for key in keys:
        field = items.get("properties", {}).get(key)
        if field is None or field.get("type") in {"array", "object"}:
            yield (*path, _LIST_MAP_KEYS), f"{key} is not a scalar property of the items"
        elif key not in items.get("required", []) and "default" not in field:
            yield (*path, "items", "properties", key), "is a key of its list, so it must be required or have a default"


def _items(node: Schema) -> Schema:
    items = node.get("items")
    return items if isinstance(items, dict) else {}


def _children(node: Schema, path: FieldPath) -> Iterator[tuple[Schema, FieldPath]]:
    for name, child in node.get("properties", {}).items():
        yield child, (*path, "properties", name)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield node[key], (*path, key)


def _branches(node: Schema, path: FieldPath) -> Iterator[tuple[Schema, FieldPath]]:
    """Yield (schema, path) pairs of the branches of a schema's junctors.

    The `anyOf` of an integer and a string, which Kubernetes allows, is left out.
    """
    for junctor in ("allOf", "anyOf", "oneOf"):
        branches = node.get(junctor, [])
        if branches != _INTEGER_OR_STRING:
            yield from ((branch, (*path, junctor, index)) for index, branch in enumerate(branches))
    if "not" in node:
        yield node["not"], (*path, "not")
