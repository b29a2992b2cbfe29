"""The official schemas of Kubernetes objects and types.

`generated/` holds one JSON file for each supported minor version: `kinds` names the definition of each kind of objects
by `<apiVersion> <kind>`, and `definitions` holds the schemas, closed against unknown fields. `make generate` writes
these files from the OpenAPI documents of Kubernetes, and a test compares them. A file is read once (about 5 ms); the
part of a kind is extracted and compiled on first use, and cached.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import orjson

from stowplan.compiler.kubernetes.rules import CLUSTER_SCOPED, REPLACED, rules_of
from stowplan.compiler.kubernetes.schema_checker import Checker
from stowplan.compiler.kubernetes.schema_problem import JsonSchema, SchemaProblem
from stowplan.schema.meta import PATCH

PREFIX = "#/$defs/"
"""What references to definitions begin with."""

_GENERATED = Path(__file__).with_name("generated")
_PARTIAL = frozenset(f"io.k8s.api.core.v1.{name}" for name in ("Container", "PodSpec"))
"""Types in a pod template whose values a patch may give in part.

All others that have required fields are items of lists, and these fields are the keys by which items are merged, or
the items are small.
"""

_ANY_DIRECTIVE: JsonSchema = {"patternProperties": {r"^\$": {}}}


@dataclass(frozen=True, slots=True, order=True)
class KnownKind:
    """A built-in kind of a Kubernetes version; `group` is empty for the core group."""

    group: str
    version: str
    kind: str
    namespaced: bool


def object_problems(kubernetes: str, body: dict[str, Any]) -> list[SchemaProblem] | None:
    """Return the problems of a whole object by the schema of its apiVersion and kind; None for a kind not built in.

    `kubernetes` is a supported minor version such as `1.36`. As for the API server of Kubernetes with field validation
    `Strict`, unknown fields are problems. Null is allowed for a field that may be missing, because the API server drops
    it, but not in a list.
    """
    checker = _object_checker(kubernetes, str(body.get("apiVersion")), str(body.get("kind")))
    return None if checker is None else checker.problems(body)


def definition_problems(kubernetes: str, definition: str, value: Any) -> list[SchemaProblem]:
    """Return the problems of a value of one type, such as `io.k8s.api.core.v1.Toleration`; empty for a valid value.

    `kubernetes` is a supported minor version such as `1.36`. A definition that begins with `PATCH` is that of a
    strategic merge patch, whose directives are not checked here. Raises `KeyError` for an unknown definition, which is
    a compiler bug.
    """
    plain = _without_directives(value) if definition.startswith(PATCH) else value
    return _checker(kubernetes, definition).problems(plain)


@cache
def known_kinds(kubernetes: str) -> frozenset[KnownKind]:
    """Return all built-in kinds of objects of a Kubernetes version (such as `1.36`), without kinds of lists.

    The OpenAPI definitions do not say whether a kind has a namespace; the table `CLUSTER_SCOPED` does.
    """
    kinds = set()
    for name in _document(kubernetes)["kinds"]:
        api_version, kind = name.split(" ")
        group, _, version = api_version.rpartition("/")
        kinds.add(KnownKind(group, version, kind, (group, kind) not in CLUSTER_SCOPED))
    return frozenset(kinds)


@lru_cache(maxsize=1024)
def _object_checker(kubernetes: str, api_version: str, kind: str) -> Checker | None:
    definition = _document(kubernetes)["kinds"].get(f"{api_version} {kind}")
    return _checker(kubernetes, definition) if definition else None


def definitions(kubernetes: str, names: Iterable[str]) -> dict[str, JsonSchema]:
    """Return the JSON schemas of these types, and of all that they refer to, by name, with Stowplan's rules.

    `kubernetes` is a supported minor version such as `1.36`. Names are as `io.k8s.api.core.v1.Toleration`. A reference
    begins with `#/$defs/`. Raises `KeyError` for an unknown definition.
    """
    closed: dict[str, JsonSchema] = {}
    wanted = list(names)
    while wanted:
        name = wanted.pop()
        if name not in closed:
            closed[name], references = _definition(kubernetes, name)
            wanted.extend(references)
    return closed


@cache
def _checker(kubernetes: str, definition: str) -> Checker:
    return Checker({"$ref": PREFIX + definition, "$defs": definitions(kubernetes, [definition])})


@cache
def _definition(kubernetes: str, name: str) -> tuple[JsonSchema, list[str]]:
    """Return a definition as JSON schema with Stowplan's additional rules, and the names of those that it refers to."""
    if name.startswith(PATCH):
        patch = _patch_schema(_definition(kubernetes, name.removeprefix(PATCH))[0])
        return patch, _references(patch)
    schema = REPLACED.get(name)
    if schema is None:
        schema = _document(kubernetes)["definitions"][name]
        rules = rules_of(name)
        schema = {**schema, "allOf": rules} if rules else schema
    return schema, _references(schema)


def _references(schema: Any) -> list[str]:
    return re.findall(r'"\$ref":"#/\$defs/([^"]+)"', orjson.dumps(schema).decode())


@cache
def _document(kubernetes: str) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads((_GENERATED / f"{kubernetes}.json").read_bytes())
    return document


def _patch_schema(schema: JsonSchema) -> JsonSchema:
    """Return the schema of a patch for values of a definition, which refers to patches of the types in `_PARTIAL`."""
    own = {key: _referring(value) for key, value in schema.items() if key != "required"} | _ANY_DIRECTIVE
    if "allOf" in own:
        own["allOf"] = [rule for rule in own["allOf"] if "required" not in rule or "if" in rule or "not" in rule]
    return own


def _without_directives(value: Any) -> Any:
    """Return a copy of a patch without its directives, such as `$patch`, which are keys that begin with `$`."""
    if isinstance(value, dict):
        return {key: _without_directives(below) for key, below in value.items() if not str(key).startswith("$")}
    return [_without_directives(item) for item in value] if isinstance(value, list) else value


def _referring(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _patch_of(below) if key == "$ref" else _referring(below) for key, below in node.items()}
    return [_referring(item) for item in node] if isinstance(node, list) else node


def _patch_of(reference: str) -> str:
    place, slash, name = reference.rpartition("/")
    return f"{place}{slash}{PATCH}{name}" if name in _PARTIAL else reference
