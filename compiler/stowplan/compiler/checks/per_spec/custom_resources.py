"""Does each custom resource fit its CRD?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from stowplan.compiler.checks.objects.finding import ObjectFinding, about, about_problem
from stowplan.compiler.checks.objects.object import Object, Objects
from stowplan.compiler.checks.objects.strict_schema import strict_schema
from stowplan.compiler.checks.per_spec import crds
from stowplan.compiler.kubernetes.fields import items, mapping
from stowplan.compiler.kubernetes.schema_checker import Checker
from stowplan.library.manifest import Json
from stowplan.schema.diagnostics import did_you_mean
from stowplan.schema.export.shipped_crds import custom_resource_definitions

_CODE = "SP502"

Kind = tuple[str, str]
"""Group and kind."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A CRD: whether its objects have a namespace, and the schema of each served version by name of the version."""

    namespaced: bool
    schemas: Mapping[str, Any]


class Definitions:
    """The CRDs that custom resources are checked by: Stowplan's own, and those among the objects `foreign`.

    Stowplan's own are always known, even if another repository installs them. They take precedence over CRDs in the
    output. `known` has the definitions by group and kind.
    """

    def __init__(self, foreign: Iterable[Object] = ()) -> None:
        bodies = [obj.body for obj in foreign if obj.kind[1] == crds.KIND]
        self.known: Mapping[Kind, Definition] = {**{defines(body): _definition(body) for body in bodies}, **_own()}
        self._checkers: dict[tuple[Kind, str], Checker] = {}

    def checker(self, kind: Kind, version: str) -> Checker:
        """Return the checker for a served version of a known kind. Raises `ValueError` if its schema is not usable."""
        if kind in _own():
            return _own_checker(kind, version)
        if (kind, version) not in self._checkers:
            self._checkers[kind, version] = Checker(strict_schema(self.known[kind].schemas[version]))
        return self._checkers[kind, version]


def check(objects: Objects, definitions: Definitions) -> list[ObjectFinding]:
    """Return findings for custom resources that do not fit the schema of their version in their CRD.

    Objects of unknown kinds are skipped. The check is that of the API server of Kubernetes with strict field
    validation.
    """
    found: list[ObjectFinding] = []
    for obj in objects:
        if obj.kind in definitions.known:
            found += _check(obj, definitions.known[obj.kind], definitions)
    return found


def defines(definition: Json) -> Kind:
    """Return the group and kind that a CRD defines."""
    spec = mapping(definition, "spec")
    return str(spec.get("group")), str(mapping(spec, "names").get("kind"))


def is_own(definition: Json) -> bool:
    """Whether a CRD defines one of Stowplan's kinds."""
    return defines(definition) in _own()


def _check(obj: Object, definition: Definition, definitions: Definitions) -> list[ObjectFinding]:
    version = str(obj.body["apiVersion"]).rpartition("/")[2]
    if version not in definition.schemas:
        message = f'The CRD of {obj.kind[1]} does not serve the version "{version}".'
        return [about(obj, _CODE, ("apiVersion",), message, did_you_mean(version, definition.schemas))]
    try:
        checker = definitions.checker(obj.kind, version)
    except ValueError as error:  # a foreign CRD: an invalid pattern, for example
        message = f"The schema in the CRD of {obj.kind[1]} cannot be used: {error}"
        return [about(obj, _CODE, (), message, "Correct the CRD.")]
    return [about_problem(obj, _CODE, problem) for problem in checker.problems(obj.body)] + _scope(obj, definition)


def _scope(obj: Object, definition: Definition) -> list[ObjectFinding]:
    if definition.namespaced == bool(obj.id.namespace):
        return []
    path = ("metadata", "namespace")
    if definition.namespaced:
        return [about(obj, _CODE, path, "The kind needs a namespace.", "Add the namespace.")]
    message = f'Found the namespace "{obj.id.namespace}", but the kind has none.'
    return [about(obj, _CODE, path, message, "Remove the namespace.")]


@cache
def _own() -> Mapping[Kind, Definition]:
    return {defines(body): _definition(body) for body in custom_resource_definitions()}


@cache
def _own_checker(kind: Kind, version: str) -> Checker:
    return Checker(strict_schema(_own()[kind].schemas[version]))


def _definition(body: Json) -> Definition:
    schemas = {
        version["name"]: mapping(version, "schema", "openAPIV3Schema")
        for version in items(body, "spec", "versions")
        if version.get("served")
    }
    return Definition(mapping(body, "spec").get("scope") == "Namespaced", schemas)
