"""Custom resources, reduced to their status and the spec fields from which the reporter derives a new status."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.reporter.objects.workloads import Key, key_of
from stowplan.schema.kinds.table import KINDS

SpecFields = Mapping[str, tuple[str, ...] | None]
"""Fields of a spec, each with the names of the fields below it, or None for a plain value."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One custom resource at one version (`resourceVersion`). `spec` has only the fields that the reporter reads."""

    key: Key
    kind: str
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


def resource(manifest: Manifest, namespace: str, kind: str, needed: SpecFields) -> Resource | None:
    """Return the custom resource with this manifest, of this kind and namespace, with the `needed` fields of its spec.

    None for an object that is being deleted, or whose labels show that the compiler did not write it.
    """
    metadata, spec = manifest["metadata"], manifest.get("spec") or {}
    key = key_of(metadata, namespace)
    if key is None or key[0] != kind or "deletionTimestamp" in metadata:
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
        spec={name: _kept(spec[name], below) for name, below in needed.items() if spec.get(name) is not None},
        status=manifest.get("status") or {},
    )


def with_status(resource: Resource, status: Manifest) -> Manifest:
    """Return the manifest to apply for this status.

    It holds the `resourceVersion` of `resource`, so the API server refuses it if the custom resource has changed since.
    """
    metadata = {"name": resource.name, "namespace": resource.namespace, "resourceVersion": resource.version}
    api_version = KINDS[resource.kind].api_version
    return {"apiVersion": api_version, "kind": resource.kind, "metadata": metadata, "status": status}


def _kept(value: Any, below: tuple[str, ...] | None) -> Any:
    if below is None:
        return value
    if isinstance(value, list):
        return [_kept(each, below) for each in value]
    return {name: value[name] for name in below if value.get(name) is not None}
