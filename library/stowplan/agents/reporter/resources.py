"""Custom resources: the part of each spec that the rules read, and the present status."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.cluster.custom_resources import SERVED, Served
from stowplan.agents.reporter.workloads import Key, key_of
from stowplan.schema.kinds import table
from stowplan.schema.kinds.custom_resource import SpecFields


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of this project. `needed` are the spec fields that the rules read."""

    kind: str
    needed: SpecFields

    @property
    def served(self) -> Served:
        return SERVED[self.kind]


KINDS = tuple(Kind(name, model.OBSERVED) for name, model in table.KINDS.items())
"""All kinds of this project."""


@dataclass(frozen=True, slots=True)
class Resource:
    """One custom resource at one version."""

    key: Key
    kind: Kind
    uid: str
    namespace: str
    name: str
    version: str
    generation: int
    created: str
    suspended: bool
    """Whether the user suspended it (`terminate` of a SampleJob)."""
    spec: Mapping[str, Any]
    status: Manifest


def resource(manifest: Manifest, namespace: str, kind: Kind) -> Resource | None:
    """Parse a manifest; None for an object that is being deleted, or that the compiler did not write."""
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
