"""Does each object fit the official schema of its kind?"""

from collections.abc import Sequence
from functools import cache

from stowplan.compiler.checks.object_finding import ObjectFinding, about, about_problem
from stowplan.compiler.checks.objects import Object
from stowplan.compiler.kubernetes_schemas import definition_problems, known_kinds, object_problems
from stowplan.compiler.manifest_fields import mapping
from stowplan.schema.diagnostics import did_you_mean

_CODE = "SP501"
_ANNOTATIONS_LIMIT = 256 * 1024
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def check(objects: Sequence[Object], kubernetes: str) -> list[ObjectFinding]:
    """Built-in kinds by their schema of that minor version; of other kinds only the metadata."""
    return [found for obj in objects for found in _check(obj, kubernetes)]


def _check(obj: Object, kubernetes: str) -> list[ObjectFinding]:
    body = obj.body
    problems = object_problems(kubernetes, body)
    if problems is not None:
        found = [about_problem(obj, _CODE, problem) for problem in problems]
        return found + _metadata(obj) + _scope(obj, kubernetes)
    metadata = definition_problems(kubernetes, _METADATA, body.get("metadata"))
    found = [about_problem(obj, _CODE, problem, ("metadata",)) for problem in metadata]
    return found + _metadata(obj) + _kind(obj, kubernetes)


def _metadata(obj: Object) -> list[ObjectFinding]:
    """A name, and annotations of at most 256 KiB in all."""
    metadata = mapping(obj.body, "metadata")
    size = sum(len(f"{key}{value}".encode()) for key, value in mapping(metadata, "annotations").items())
    if size > _ANNOTATIONS_LIMIT:
        message = f"The annotations have {size} bytes; at most {_ANNOTATIONS_LIMIT} are allowed."
        return [about(obj, _CODE, ("metadata", "annotations"), message, "Shorten them.")]
    if metadata.get("name") or metadata.get("generateName"):
        return []
    return [about(obj, _CODE, ("metadata", "name"), "The object has no name.", "Add the name.")]


def _scope(obj: Object, kubernetes: str) -> list[ObjectFinding]:
    """A namespace where the kind has one, and none where it has none: the API server refuses anything else."""
    own = obj.id
    namespaced = _scopes(kubernetes)[own.group, own.kind]
    path = ("metadata", "namespace")
    if namespaced and not own.namespace:
        return [about(obj, _CODE, path, f"A {own.kind} needs a namespace.", "Add the namespace.")]
    if own.namespace and not namespaced:
        message = f'Found the namespace "{own.namespace}", but a {own.kind} has none.'
        return [about(obj, _CODE, path, message, "Remove the namespace.")]
    return []


def _kind(obj: Object, kubernetes: str) -> list[ObjectFinding]:
    """A kind that a built-in group does not have, in that version or at all."""
    body = obj.body
    api_version, kind = str(body.get("apiVersion")), str(body.get("kind"))
    served = _served(kubernetes)
    if api_version in served:
        message = f'Kubernetes {kubernetes} has no kind "{kind}" in {api_version}.'
        return [about(obj, _CODE, ("kind",), message, did_you_mean(kind, served[api_version]))]
    if obj.id.group in {group for group, _ in _scopes(kubernetes)}:
        message = f'Kubernetes {kubernetes} does not serve "{api_version}".'
        return [about(obj, _CODE, ("apiVersion",), message, did_you_mean(api_version, served))]
    return []


@cache
def _scopes(kubernetes: str) -> dict[tuple[str, str], bool]:
    return {(kind.group, kind.kind): kind.namespaced for kind in known_kinds(kubernetes)}


@cache
def _served(kubernetes: str) -> dict[str, frozenset[str]]:
    served: dict[str, set[str]] = {}
    for kind in known_kinds(kubernetes):
        api_version = "/".join(part for part in (kind.group, kind.version) if part)
        served.setdefault(api_version, set()).add(kind.kind)
    return {api_version: frozenset(kinds) for api_version, kinds in served.items()}
