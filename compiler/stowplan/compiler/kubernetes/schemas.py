"""The official schemas of Kubernetes objects and types.

They come with the package kubernetes-validate: for each minor version one file with all definitions of the OpenAPI
document, closed against unknown fields. That file is read once (about 20 ms); a kind's own part is cut out and
compiled when it is first asked for, and kept.
"""

import re
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from stowplan.compiler.kubernetes.list_map_keys import LIST_MAP_KEYS, KnownLists
from stowplan.compiler.kubernetes.rules import CLUSTER_SCOPED, FORMATS, REPLACED, rules_of
from stowplan.compiler.kubernetes.schema_checker import FORM, Checker, JsonSchema, SchemaProblem
from stowplan.schema.frozen import dataclass

_PREFIX = "#/$defs/"
_KINDS_KEY = "x-kubernetes-group-version-kind"
_ANNOTATIONS = frozenset({"description", "format", "$schema", "$id", "default"})


@dataclass(frozen=True, slots=True, order=True)
class KnownKind:
    """A kind that a version of Kubernetes serves itself; `group` is empty for the core group."""

    group: str
    version: str
    kind: str
    namespaced: bool


def object_problems(kubernetes: str, body: dict[str, Any]) -> list[SchemaProblem] | None:
    """What is wrong with a whole object by the schema of its apiVersion and kind; None for a kind that is not built in.

    `kubernetes` is a supported minor such as `1.34`. Strict as the API server with field validation `Strict` is:
    unknown fields are problems. Null is allowed where a field may be missing, since the server drops it, but not in a
    list.
    """
    checker = _object_checker(kubernetes, str(body.get("apiVersion")), str(body.get("kind")))
    return None if checker is None else checker.problems(body)


def definition_problems(kubernetes: str, definition: str, value: Any) -> list[SchemaProblem]:
    """What is wrong with a value of one type, such as `io.k8s.api.core.v1.Toleration`.

    A definition that does not exist is a bug of ours: `KeyError`.
    """
    return _checker(kubernetes, definition).problems(value)


@cache
def known_kinds(kubernetes: str) -> frozenset[KnownKind]:
    """All kinds of objects that this version of Kubernetes serves itself, lists of objects left out.

    The OpenAPI definitions do not say whether a kind has a namespace; that comes from a table of ours.
    """
    kinds = set()
    for api_version, kind in _definition_names(kubernetes):
        group, _, version = api_version.rpartition("/")
        kinds.add(KnownKind(group, version, kind, (group, kind) not in CLUSTER_SCOPED))
    return frozenset(kinds)


@cache
def _definition_names(kubernetes: str) -> dict[tuple[str, str], str]:
    """The definition of each object kind by apiVersion and kind."""
    names = {}
    for name, schema in _definitions(kubernetes).items():
        metadata = schema.get("properties", {}).get("metadata", {}).get("$ref", "")
        if not metadata.endswith(".ObjectMeta"):
            continue
        for entry in schema.get(_KINDS_KEY, ()):
            api_version = "/".join(part for part in (entry["group"], entry["version"]) if part)
            names[api_version, entry["kind"]] = name
    return names


@lru_cache(maxsize=1024)
def _object_checker(kubernetes: str, api_version: str, kind: str) -> Checker | None:
    definition = _definition_names(kubernetes).get((api_version, kind))
    return _checker(kubernetes, definition) if definition else None


@cache
def _checker(kubernetes: str, definition: str) -> Checker:
    closed: dict[str, JsonSchema] = {}
    wanted = [definition]
    while wanted:
        name = wanted.pop()
        if name not in closed:
            closed[name], references = _definition(kubernetes, name)
            wanted.extend(references)
    return Checker({"$ref": _PREFIX + definition, "$defs": closed}, _keyed_lists(kubernetes))


@cache
def _keyed_lists(_kubernetes: str) -> KnownLists:
    """Shared by the schemas of all kinds, as their definitions are."""
    return {}


@cache
def _definition(kubernetes: str, name: str) -> tuple[JsonSchema, list[str]]:
    """A definition as the validator reads it, and the names of those that it refers to."""
    schema = REPLACED.get(name)
    if schema is None:
        schema = _adapted(_definitions(kubernetes)[name])
        rules = rules_of(kubernetes, name)
        schema = {**schema, "allOf": rules} if rules else schema
    return schema, _references(schema)


def _adapted(schema: JsonSchema) -> JsonSchema:
    """A schema node without what the validator need not read, and with the bounds that its format implies."""
    result: JsonSchema = dict(FORMATS.get(schema.get("format", ""), {}))
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: _adapted(node) for name, node in value.items()}
        elif key == "items":
            result[key] = _without_null(_adapted(value))
        elif key == "additionalProperties" and isinstance(value, dict):
            result[key] = _adapted(value)
        elif key == LIST_MAP_KEYS or not (key in _ANNOTATIONS or key.startswith("x-")):
            result[key] = value
    if schema.get("x-kubernetes-list-type") == "set":
        result["uniqueItems"] = True
    return result


def _without_null(schema: JsonSchema) -> JsonSchema:
    """Go reads a null in a list as an empty text, zero or an empty object, which nobody means."""
    if "$ref" in schema:
        return {**schema, "not": {"type": "null"}, FORM: "an item"}
    types = schema.get("type")
    return {**schema, "type": [name for name in types if name != "null"]} if isinstance(types, list) else schema


def _references(schema: Any) -> list[str]:
    return re.findall(r'"\$ref":"#/\$defs/([^"]+)"', orjson.dumps(schema).decode())


@cache
def _definitions(kubernetes: str) -> dict[str, JsonSchema]:
    # `importlib.resources` would import the package, which imports jsonschema: 0.1 s.
    package = find_spec("kubernetes_validate")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("kubernetes_validate")
    folder = Path(package.submodule_search_locations[0]) / "kubernetes-json-schema"
    file = folder / f"v{kubernetes}.0-local-strict" / "_definitions.json"
    definitions: dict[str, JsonSchema] = orjson.loads(file.read_bytes())["$defs"]
    return definitions
