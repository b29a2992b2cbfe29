"""Does each object fit the official schema of its kind?"""

from collections.abc import Sequence
from functools import cache

from stowplan.compiler.checks.objects.finding import ObjectFinding, about, about_problem
from stowplan.compiler.checks.objects.object import Object
from stowplan.compiler.kubernetes.schemas import definition_problems, known_kinds, object_problems
from stowplan.schema.diagnostics import did_you_mean

_CODE = "SP501"
_ANNOTATIONS_LIMIT = 256 * 1024
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def check(objects: Sequence[Object], kubernetes: str) -> list[ObjectFinding]:
    """Return findings for objects that do not fit the schema of their kind in a version of Kubernetes, such as `1.36`.

    Of kinds that are not built in, only the metadata is checked, and whether a built-in API group lacks the kind.
    """
    found: list[ObjectFinding] = []
    scopes = _scopes(kubernetes)
    for obj in objects:
        problems = object_problems(kubernetes, obj.body)
        if problems is None:
            metadata = definition_problems(kubernetes, _METADATA, obj.body.get("metadata"))
            found += [about_problem(obj, _CODE, problem, ("metadata",)) for problem in metadata]
            found += _kind(obj, kubernetes)
        else:
            found += [about_problem(obj, _CODE, problem) for problem in problems] if problems else ()
            namespaced = scopes[obj.kind]
            found += () if namespaced is bool(obj.id.namespace) else _scope(obj, namespaced=namespaced)
        if len(obj.json) > _ANNOTATIONS_LIMIT or not obj.metadata.get("name"):
            found += _annotations(obj) or _nameless(obj)
    return found


def _annotations(obj: Object) -> list[ObjectFinding]:
    """Return a finding if all annotations of an object together have more than 256 KiB; otherwise an empty list."""
    size = sum(len(f"{key}{value}".encode(errors="surrogatepass")) for key, value in obj.annotations.items())
    if size <= _ANNOTATIONS_LIMIT:
        return []
    message = f"The annotations have {size} bytes; at most {_ANNOTATIONS_LIMIT} are allowed."
    return [about(obj, _CODE, ("metadata", "annotations"), message, "Shorten them.")]


def _nameless(obj: Object) -> list[ObjectFinding]:
    if obj.metadata.get("name") or obj.metadata.get("generateName"):
        return []
    return [about(obj, _CODE, ("metadata", "name"), "The object has no name.", "Add the name.")]


def _scope(obj: Object, *, namespaced: bool) -> list[ObjectFinding]:
    """Return the finding about a namespace that is missing, or that an object of a kind without namespaces has.

    The API server of Kubernetes refuses such an object.
    """
    path, kind = ("metadata", "namespace"), obj.kind[1]
    if namespaced:
        return [about(obj, _CODE, path, f"A {kind} needs a namespace.", "Add the namespace.")]
    message = f'Found the namespace "{obj.id.namespace}", but a {kind} has none.'
    return [about(obj, _CODE, path, message, "Remove the namespace.")]


def _kind(obj: Object, kubernetes: str) -> list[ObjectFinding]:
    """Return a finding if the object's API group is built in but lacks the kind or the version; else an empty list."""
    body = obj.body
    api_version, kind = str(body.get("apiVersion")), str(body.get("kind"))
    served = _served(kubernetes)
    if api_version in served:
        message = f'Kubernetes {kubernetes} has no kind "{kind}" in {api_version}.'
        return [about(obj, _CODE, ("kind",), message, did_you_mean(kind, served[api_version]))]
    if obj.kind[0] in _groups(kubernetes):
        message = f'Kubernetes {kubernetes} does not serve "{api_version}".'
        return [about(obj, _CODE, ("apiVersion",), message, did_you_mean(api_version, served))]
    return []


@cache
def _scopes(kubernetes: str) -> dict[tuple[str, str], bool]:
    return {(kind.group, kind.kind): kind.namespaced for kind in known_kinds(kubernetes)}


@cache
def _groups(kubernetes: str) -> frozenset[str]:
    return frozenset(kind.group for kind in known_kinds(kubernetes))


@cache
def _served(kubernetes: str) -> dict[str, frozenset[str]]:
    served: dict[str, set[str]] = {}
    for kind in known_kinds(kubernetes):
        api_version = "/".join(part for part in (kind.group, kind.version) if part)
        served.setdefault(api_version, set()).add(kind.kind)
    return {api_version: frozenset(kinds) for api_version, kinds in served.items()}
