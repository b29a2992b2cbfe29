"""Does each custom resource fit its CRD?"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from stowplan.compiler.checks import crds
from stowplan.compiler.checks.manifests import identity, items, mapping
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.checks.objects import Objects
from stowplan.compiler.kubernetes_rules import FORMATS
from stowplan.compiler.model import Output
from stowplan.compiler.schema_problems import LIST_MAP_KEYS, Checker, JsonSchema
from stowplan.library.manifest import Json
from stowplan.schema.crd import CUSTOM_RESOURCES, custom_resource_definition
from stowplan.schema.diagnostics import did_you_mean

_CODE = "SP502"
_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_KEPT = frozenset(
    "type enum required pattern minimum maximum minLength maxLength minItems maxItems minProperties maxProperties "
    "multipleOf uniqueItems title".split()
) | {LIST_MAP_KEYS}
_JUNCTORS = ("allOf", "anyOf", "oneOf")

Kind = tuple[str, str]
"""Group and kind."""


def check(objects: Objects) -> list[ObjectFinding]:
    """Each custom resource by the schema of its version, as the API server does with strict field validation.

    Our own CRDs are known also where another repository brings them; others where they are part of the output. CEL
    rules are not evaluated.
    """
    definitions = {**_own(), **_definitions(objects)}
    checkers: dict[tuple[Kind, str], Checker] = {}
    found = []
    for output in objects.outputs:
        kind, version = _kind_of(output.manifest.body)
        if kind in definitions:
            found += _check(output, definitions[kind], checkers, (kind, version))
    return found


def _check(
    output: Output, definition: Json, checkers: dict[tuple[Kind, str], Checker], key: tuple[Kind, str]
) -> list[ObjectFinding]:
    kind, version = key
    schemas = _schemas(definition)
    if version not in schemas:
        message = f'The CRD of {kind[1]} does not serve the version "{version}".'
        return [about(output, _CODE, ("apiVersion",), message, did_you_mean(version, schemas))]
    try:
        if key not in checkers:
            checkers[key] = _own_checker(*key) if kind in _own() else Checker(strict_schema(schemas[version]))
    except ValueError as error:  # a foreign CRD: an invalid pattern, for example
        message = f"The schema in the CRD of {kind[1]} cannot be used: {error}"
        return [about(output, _CODE, (), message, "Correct the CRD.")]
    problems = checkers[key].problems(output.manifest.body)
    return [about(output, _CODE, p.path, p.message, p.hint) for p in problems] + _scope(output, definition)


def _scope(output: Output, definition: Json) -> list[ObjectFinding]:
    namespaced = mapping(definition, "spec").get("scope") == "Namespaced"
    namespace = identity(output.manifest.body).namespace
    if namespaced == bool(namespace):
        return []
    path = ("metadata", "namespace")
    if namespaced:
        return [about(output, _CODE, path, "The kind needs a namespace.", "Add the namespace.")]
    return [about(output, _CODE, path, f'Found the namespace "{namespace}", but the kind has none.', "Remove it.")]


def strict_schema(schema: JsonSchema) -> JsonSchema:
    """JSON schema of a structural `openAPIV3Schema` that refuses what the API server would prune.

    At the root, `apiVersion`, `kind` and `metadata` are always allowed; the server checks metadata itself.
    """
    strict = _strict(schema)
    fields = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    return {**strict, "properties": {**strict.get("properties", {}), **fields}}


def _strict(node: JsonSchema) -> JsonSchema:
    if node.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"], **_rules(node, without=("type",))}
    strict = _rules(node)
    if node.get("nullable") and "type" in node:
        strict["type"] = [node["type"], "null"]
    if "items" in node:
        strict["items"] = _strict(node["items"])
    if "properties" in node:
        strict["properties"] = {name: _strict(child) for name, child in node["properties"].items()}
    if isinstance(node.get("additionalProperties"), dict):
        strict["additionalProperties"] = _strict(node["additionalProperties"])
    elif _closed(node):
        strict["additionalProperties"] = False
    return strict


def _closed(node: JsonSchema) -> bool:
    """Whether the server prunes fields that the node does not name."""
    kept = node.get(_PRESERVE) or node.get("x-kubernetes-embedded-resource") or "additionalProperties" in node
    return node.get("type") == "object" and not kept


def _rules(node: JsonSchema, without: tuple[str, ...] = ()) -> JsonSchema:
    """The rules about the value itself. OpenAPI's exclusive bounds are flags, those of JSON Schema numbers."""
    rules: JsonSchema = dict(FORMATS.get(node.get("format", ""), {}))
    rules |= {key: value for key, value in node.items() if key in _KEPT and key not in without}
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if node.get(exclusive) is True:
            rules[exclusive] = rules.pop(bound)
    for junctor in _JUNCTORS:
        if junctor in node:
            rules[junctor] = [_branch(branch) for branch in node[junctor]]
    if "not" in node:
        rules["not"] = _branch(node["not"])
    return rules


def _branch(node: JsonSchema) -> JsonSchema:
    """A schema below a junctor: it only adds rules and describes no fields of its own."""
    branch = _rules(node)
    if "items" in node:
        branch["items"] = _branch(node["items"])
    if "properties" in node:
        branch["properties"] = {name: _branch(child) for name, child in node["properties"].items()}
    return branch


def _definitions(objects: Objects) -> dict[Kind, Json]:
    bodies = [output.manifest.body for output in objects.of_kind(crds.KIND)]
    return {_kind_defined(body): body for body in bodies if _kind_defined(body) not in _own()}


@cache
def _own() -> Mapping[Kind, Json]:
    bodies = [custom_resource_definition(model) for model in CUSTOM_RESOURCES]
    return {_kind_defined(body): body for body in bodies}


@cache
def _own_checker(kind: Kind, version: str) -> Checker:
    return Checker(strict_schema(_schemas(_own()[kind])[version]))


def _kind_defined(definition: Json) -> Kind:
    spec = mapping(definition, "spec")
    return str(spec.get("group")), str(mapping(spec, "names").get("kind"))


def _kind_of(body: Json) -> tuple[Kind, str]:
    group, _, version = str(body.get("apiVersion", "")).rpartition("/")
    return (group, str(body.get("kind", ""))), version


def _schemas(definition: Json) -> dict[str, Any]:
    return {
        version["name"]: mapping(version, "schema", "openAPIV3Schema")
        for version in items(definition, "spec", "versions")
        if version.get("served")
    }
