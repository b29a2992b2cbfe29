"""Custom resources: what of each spec the rules look at, and the present status."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.cluster.custom_resources import SERVED, Served
from stowplan.agents.reporter.workloads import Key, key_of


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of ours."""

    kind: str
    needed: Mapping[str, tuple[str, ...] | None]
    """Fields of the spec: with the names of what is kept below them, or None for a plain value."""

    @property
    def served(self) -> Served:
        return SERVED[self.kind]


_REPLICAS = ("replicas",)
_SIZES = ("min-instance", "max-instance")

KINDS: tuple[Kind, ...] = (
    Kind("DataCube", {"schedule": None}),
    Kind("MxJob", {"jobMode": None, "replicaSpecs": ("replicas", "mxReplicaType")}),
    Kind("PaddleJob", {"ps": _REPLICAS, "worker": _REPLICAS, "heter": _REPLICAS}),
    Kind("SampleJob", {"type": None, "schedule": None, "sampleSetRef": ("name",)}),
    Kind("SampleSet", {"partitions": None, "noSync": None, "source": ("uri",), "csi": ("driver",)}),
    Kind("TrainingJob", {"fault_tolerant": None, "trainer": _SIZES, "pserver": _SIZES, "annotations": ("walltime",)}),
)
"""Every kind of ours."""


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
    """Whether its user asked for that (`terminate` of a SampleJob)."""
    spec: Mapping[str, Any]
    status: Manifest


def resource(manifest: Manifest, namespace: str, kind: Kind) -> Resource | None:
    """From the manifest; None for one that is being deleted, or that was not compiled."""
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
