"""Does each custom resource fit its CRD?"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from stowplan.compiler.checks import crds
from stowplan.compiler.checks.object_finding import ObjectFinding, about, about_problem
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.checks.strict_schema import strict_schema
from stowplan.compiler.manifest_fields import items, mapping
from stowplan.compiler.schema_problems import Checker
from stowplan.library.manifest import Json
from stowplan.schema.crd_data import custom_resource_definitions
from stowplan.schema.diagnostics import did_you_mean

_CODE = "SP502"

Kind = tuple[str, str]
"""Group and kind."""


def check(objects: Objects) -> list[ObjectFinding]:
    """Each custom resource by the schema of its version, as the API server does with strict field validation.

    Our own CRDs are known also where another repository brings them; others where they are part of the output.
    """
    foreign = {_defines(obj.body): obj.body for obj in objects.of_kind(crds.KIND)}
    definitions = {**foreign, **_own()}
    checkers: dict[tuple[Kind, str], Checker] = {}
    found: list[ObjectFinding] = []
    for obj in objects:
        if obj.kind in definitions:
            found += _check(obj, definitions[obj.kind], checkers)
    return found


def _check(obj: Object, definition: Json, checkers: dict[tuple[Kind, str], Checker]) -> list[ObjectFinding]:
    version = str(obj.body["apiVersion"]).rpartition("/")[2]
    schemas = _schemas(definition)
    if version not in schemas:
        message = f'The CRD of {obj.id.kind} does not serve the version "{version}".'
        return [about(obj, _CODE, ("apiVersion",), message, did_you_mean(version, schemas))]
    key = (obj.kind, version)
    try:
        checkers[key] = checkers.get(key) or _checker(obj.kind, version, schemas)
    except ValueError as error:  # a foreign CRD: an invalid pattern, for example
        message = f"The schema in the CRD of {obj.id.kind} cannot be used: {error}"
        return [about(obj, _CODE, (), message, "Correct the CRD.")]
    problems = checkers[key].problems(obj.body)
    return [about_problem(obj, _CODE, problem) for problem in problems] + _scope(obj, definition)


def _scope(obj: Object, definition: Json) -> list[ObjectFinding]:
    namespaced = mapping(definition, "spec").get("scope") == "Namespaced"
    if namespaced == bool(obj.id.namespace):
        return []
    path = ("metadata", "namespace")
    if namespaced:
        return [about(obj, _CODE, path, "The kind needs a namespace.", "Add the namespace.")]
    message = f'Found the namespace "{obj.id.namespace}", but the kind has none.'
    return [about(obj, _CODE, path, message, "Remove the namespace.")]


def _checker(kind: Kind, version: str, schemas: dict[str, Any]) -> Checker:
    return _own_checker(kind, version) if kind in _own() else Checker(strict_schema(schemas[version]))


@cache
def _own() -> Mapping[Kind, Json]:
    return {_defines(body): body for body in custom_resource_definitions()}


@cache
def _own_checker(kind: Kind, version: str) -> Checker:
    return Checker(strict_schema(_schemas(_own()[kind])[version]))


def _defines(definition: Json) -> Kind:
    spec = mapping(definition, "spec")
    return str(spec.get("group")), str(mapping(spec, "names").get("kind"))


def _schemas(definition: Json) -> dict[str, Any]:
    return {
        version["name"]: mapping(version, "schema", "openAPIV3Schema")
        for version in items(definition, "spec", "versions")
        if version.get("served")
    }
