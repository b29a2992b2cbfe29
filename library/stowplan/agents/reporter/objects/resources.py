"""Custom resources, reduced to their status and the spec fields from which the reporter derives a new status."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.cluster.custom_resources import SERVED, Served
from stowplan.agents.reporter.objects.workloads import Key, key_of

SpecFields = Mapping[str, tuple[str, ...] | None]
"""Fields of a spec, each with the names of the fields below it, or None for a plain value."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of custom resource of this project."""

    kind: str
    """Name of the kind, such as `SampleSet`."""
    needed: SpecFields
    """Spec fields that the reporter reads. For each, the names of the inner fields, or None for the whole value."""

    @property
    def served(self) -> Served:
        return SERVED[self.kind]


@dataclass(frozen=True, slots=True)
class Resource:
    """One custom resource at one version. `spec` has only the fields in `Kind.needed`."""

    key: Key
    kind: Kind
    uid: str
    namespace: str
    name: str
    version: str
    generation: int
    created: str
    suspended: bool
    """Whether the user suspended the custom resource, by the spec field `terminate` of a SampleJob."""
    spec: Mapping[str, Any]
    status: Manifest


def resource(manifest: Manifest, namespace: str, kind: Kind) -> Resource | None:
    """Return the custom resource with this manifest, of this kind and namespace.

    None for an object that is being deleted, or whose labels show that the compiler did not write it.
    """
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    key = key_of(metadata, namespace)
    if key is None or key[0] != kind.kind or "deletionTimestamp" in metadata:
        return None
    return Resource(
        key=key,
        kind=kind,
        uid=str(metadata["uid"]),
        namespace=namespace,
        name=str(metadata["name"]),
        version=str(metadata["resourceVersion"]),
        generation=int(metadata.get("generation", 1)),
        created=str(metadata.get("creationTimestamp", "")),
        suspended=bool(spec.get("terminate")),
        spec={name: _kept(spec[name], below) for name, below in kind.needed.items() if spec.get(name) is not None},
        status=manifest.get("status") or {},
    )


def _kept(value: Any, below: tuple[str, ...] | None) -> Any:
    if below is None:
        return value
    if isinstance(value, list):
        return [_kept(each, below) for each in value]
    return {name: value[name] for name in below if value.get(name) is not None}
