"""Rules for claims that specs name or describe by a template."""

from collections.abc import Iterator

from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.library.values.names import is_dns_subdomain
from stowplan.library.values.quantities import amount
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, without_effect

WRITABLE = frozenset({"ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"})
_SEVERAL_NODES = ("ReadWriteMany", "ReadOnlyMany")
_COPIED = frozenset({"labels", "annotations"})

_OTHERS = (
    "volume.kubernetes.io/",
    "volume.beta.kubernetes.io/",
    "pv.kubernetes.io/",
    "argocd.argoproj.io/",
    "stowplan.dev/",
)
"""Prefixes of annotations that the volume controllers, Argo CD or Stowplan set and read:
`volume.kubernetes.io/selected-node` chooses the node of a claim, `argocd.argoproj.io/hook` lets Argo CD delete it."""

_OURS = frozenset({labels.SYNC_OPTIONS, labels.COMPARE_OPTIONS, labels.SOURCE})
"""Annotations that Stowplan sets on every claim."""


def name_findings(name: str, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding at `path` if no claim can have this name."""
    if not is_dns_subdomain(name):
        message = f'"{name}" cannot be the name of a claim.'
        hint = "Use lower-case letters, digits, `-` and `.`, beginning and ending with a letter or digit."
        yield finding("SP210", path, message, hint)


def template_findings(template: Json, name: str, namespace: str, path: FieldPath, *, owner: str) -> Iterator[Finding]:
    """Yield findings about the template at `path` of a claim that data is written to. `name` is that of the claim.

    `owner` is the word for the spec in messages, such as `cube`.
    """
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    yield from _metadata(metadata, name, (*path, "metadata"), owner)
    yield from _labels(metadata.get("labels") or {}, (*path, "metadata", "labels"))
    yield from _annotations(metadata.get("annotations") or {}, (*path, "metadata", "annotations"))
    yield from _spec(spec, (*path, "spec"))
    source = spec.get("dataSourceRef") or {}
    yield from _data_source(source, namespace, (*path, "spec", "dataSourceRef", "namespace"))


def borrowed(template: Json, namespace: str, path: FieldPath) -> Iterator[Finding]:
    """Yield findings about what a claim in `namespace`, whose template is at `path`, takes from others.

    That are sources in other namespaces, and annotations that the volume controllers and Argo CD write.
    """
    spec, metadata = template.get("spec") or {}, template.get("metadata") or {}
    for key in sorted(metadata.get("annotations") or {}):
        yield from _foreign(key, (*path, "metadata", "annotations", key))
    yield from _data_source(spec.get("dataSourceRef") or {}, namespace, (*path, "spec", "dataSourceRef", "namespace"))


def is_single_node(modes: object) -> bool:
    """Return whether `modes`, the access modes of a claim, let only one cluster node mount the claim."""
    return isinstance(modes, list) and not any(mode in _SEVERAL_NODES for mode in modes)


def single_node(template: Json | None, path: FieldPath) -> FieldPath:
    """Return the path of the access modes of a template at `path` if only one node can mount the claim, else `()`."""
    modes = ((template or {}).get("spec") or {}).get("accessModes")
    return (*path, "spec", "accessModes") if is_single_node(modes) else ()


def _metadata(given: Json, name: str, path: FieldPath, owner: str) -> Iterator[Finding]:
    for key in sorted(given.keys() - _COPIED):
        if key != "name" or given[key] != name:
            message = f"`{key}` has no effect: the claim is {name}, in the namespace of the {owner}."
            yield without_effect((*path, key), message)


def _labels(given: Json, path: FieldPath) -> Iterator[Finding]:
    for key in sorted(filter(labels.is_reserved, given)):
        yield without_effect((*path, key), f"`{key}` has no effect: Stowplan sets this label itself.")


def _annotations(given: Json, path: FieldPath) -> Iterator[Finding]:
    for key in sorted(given):
        if key in _OURS:
            yield without_effect((*path, key), f"`{key}` has no effect: Stowplan sets this annotation itself.")
        else:
            yield from _foreign(key, (*path, key))


def _foreign(key: str, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding about the annotation `key` at `path`, if others than the author of a template write it."""
    if key.startswith(_OTHERS):
        message = f"The annotation `{key}` is for the volume controllers, Argo CD or Stowplan, not for a template."
        hint = "Remove it; the storage class is `spec.storageClassName`."
        yield finding("SP322", path, message, hint, anchor=Anchor.KEY)


def _data_source(reference: Json, own: str, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if a claim in the namespace `own` would be filled with data from a different namespace."""
    namespace = reference.get("namespace")
    if namespace and namespace != own:
        message = f"The claim would be filled from namespace {namespace}; allowed is {own}, its own."
        yield finding("SP322", path, message, f"Remove it, and take a source in {own}.")


def _spec(spec: Json, path: FieldPath) -> Iterator[Finding]:
    modes = spec.get("accessModes") or []
    if not modes:
        message = "The claim has no access modes."
        yield finding("SP499", (*path, "accessModes"), message, "Give for example `accessModes: [ReadWriteMany]`.")
    elif not any(mode in modes for mode in WRITABLE):
        message = f"Nobody could write to a claim with {', '.join(map(str, modes))}."
        yield finding("SP499", (*path, "accessModes"), message, f"Use one of {', '.join(sorted(WRITABLE))}.")
    size = amount(((spec.get("resources") or {}).get("requests") or {}).get("storage"))
    if size is None or size <= 0:
        message = "The claim asks for no size."
        hint = "Give `resources.requests.storage`, such as `100Gi`."
        yield finding("SP499", (*path, "resources", "requests", "storage"), message, hint)
    if spec.get("volumeMode", "Filesystem") != "Filesystem":
        message = f"Found {spec['volumeMode']}; files need a file system."
        yield finding("SP499", (*path, "volumeMode"), message, "Remove it, or write Filesystem.")
