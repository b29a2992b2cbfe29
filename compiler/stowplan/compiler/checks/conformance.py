"""Does each object fit the official schema of its kind?"""

from collections.abc import Sequence
from functools import cache

from stowplan.compiler.checks.manifests import identity, mapping
from stowplan.compiler.checks.object_finding import ObjectFinding, about
from stowplan.compiler.kubernetes_schemas import definition_problems, known_kinds, object_problems
from stowplan.compiler.model import Output
from stowplan.schema.diagnostics import did_you_mean

_CODE = "SP501"
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def check(outputs: Sequence[Output], kubernetes: str) -> list[ObjectFinding]:
    """Built-in kinds by their schema of that minor version; of other kinds only the metadata."""
    return [found for output in outputs for found in _check(output, kubernetes)]


def _check(output: Output, kubernetes: str) -> list[ObjectFinding]:
    body = output.manifest.body
    problems = object_problems(kubernetes, body)
    if problems is not None:
        found = [about(output, _CODE, p.path, p.message, p.hint) for p in problems]
        return found + _name(output) + _scope(output, kubernetes)
    metadata = definition_problems(kubernetes, _METADATA, body.get("metadata"))
    found = [about(output, _CODE, ("metadata", *p.path), p.message, p.hint) for p in metadata]
    return found + _name(output) + _kind(output, kubernetes)


def _name(output: Output) -> list[ObjectFinding]:
    metadata = mapping(output.manifest.body, "metadata")
    if metadata.get("name") or metadata.get("generateName"):
        return []
    return [about(output, _CODE, ("metadata", "name"), "The object has no name.", "Add the name.")]


def _scope(output: Output, kubernetes: str) -> list[ObjectFinding]:
    """A namespace where the kind has one, and none where it has none: the API server refuses anything else."""
    own = identity(output.manifest.body)
    namespaced = _scopes(kubernetes)[own.group, own.kind]
    path = ("metadata", "namespace")
    if namespaced and not own.namespace:
        return [about(output, _CODE, path, f"A {own.kind} needs a namespace.", "Add the namespace.")]
    if own.namespace and not namespaced:
        message = f'Found the namespace "{own.namespace}", but a {own.kind} has none.'
        return [about(output, _CODE, path, message, "Remove the namespace.")]
    return []


def _kind(output: Output, kubernetes: str) -> list[ObjectFinding]:
    """A kind that a built-in group does not have, in that version or at all."""
    body = output.manifest.body
    api_version, kind = str(body.get("apiVersion")), str(body.get("kind"))
    served = _served(kubernetes)
    if api_version in served:
        message = f'Kubernetes {kubernetes} has no kind "{kind}" in {api_version}.'
        return [about(output, _CODE, ("kind",), message, did_you_mean(kind, served[api_version]))]
    if identity(body).group in {group for group, _ in _scopes(kubernetes)}:
        message = f'Kubernetes {kubernetes} does not serve "{api_version}".'
        return [about(output, _CODE, ("apiVersion",), message, did_you_mean(api_version, served))]
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
