"""Jobs, JobSets and StatefulSets, reduced to the values from which the reporter derives a status."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.cluster.conditions import true_conditions
from stowplan.agents.reporter.objects.events import Event
from stowplan.schema.agents.await_config import ENDED_BECAUSE
from stowplan.schema.agents.gate_config import GATE_ANNOTATION, OPENED

SPEC_KIND, SPEC_NAME = "stowplan.dev/kind", "stowplan.dev/name"
SPEC_NAMESPACE = "stowplan.dev/namespace"
"""Label that only objects outside the namespace of their spec have; its value is the namespace of the spec."""
ROLE, RUN_HASH = "stowplan.dev/role", "stowplan.dev/run-hash"
COMPONENT = "app.kubernetes.io/component"
OUTPUT = "stowplan.dev/output"

AWAIT = "await"
"""Name of the container that waits for the deciding Jobs, so that a helper ends together with them."""
WAIT = "wait-dataset"
"""Name of the init container that delays a pod until its dataset is ready."""

PEERS = "wait-peers"
"""Name of the init container that delays a pod until the other pods of its job have addresses."""

LINEAGE = "hold-lineage"
"""Name of the sidecar that delays a pod until its job has its lineage of checkpoints, and then holds the lineage."""

GATE = "gate"
"""Role of the Job that opens a run of a training job which is compiled closed."""

Key = tuple[str, str]
"""Key of a custom resource within a namespace: its kind, and its name (the value of the label `stowplan.dev/name`)."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A condition of an object. `at` is the time of its last transition (RFC 3339); empty if unknown."""

    status: str
    reason: str
    message: str
    at: str


@dataclass(frozen=True, slots=True)
class Job:
    """A Job that belongs to a custom resource. Times are in RFC 3339, or empty if unknown."""

    key: Key
    """Key of the custom resource."""
    name: str
    run: str
    """Hash at the end of the Job's name; the scheduled minute for a Job of a CronJob."""
    role: str
    """Role in a training job, or the task, such as `sync`; empty if unknown."""
    created: str
    owner: str
    """Name of the Job's JobSet; empty for none."""
    suspended: bool
    gate: str
    """What a run that was compiled closed waits for, for people; empty if it is open, or was never closed."""
    parallelism: int
    """Number of pods that should run at once."""
    deadline: int | None
    """The Job's `activeDeadlineSeconds`."""
    ended_because: str
    """Why await made the Job fail; empty if it did not."""
    resized: str
    """Time of the last change of `parallelism`, by the API server's clock; possibly a later time."""
    started: str
    completed: str
    succeeded: int
    conditions: Mapping[str, Sign]
    """Conditions that are true, by type."""
    obstacle: Event | None = None
    """Event that says why no more of its pods can be created; None if there is none."""
    output: int | None = None
    """Index in `spec.outputs` of the output that the Job copies; None for any other Job."""


@dataclass(frozen=True, slots=True)
class JobSet:
    """A JobSet that belongs to a custom resource. `sizes` are the wanted numbers of pods by role."""

    key: Key
    name: str
    run: str
    created: str
    sizes: Mapping[str, int]
    gate: str
    """What a run that was compiled closed waits for, for people; empty if it is open, or was never closed."""
    restarts: int
    """How often all its Jobs were made anew after a failure."""
    counted: int
    """How many of these restarts count towards the number that is allowed."""
    conditions: Mapping[str, Sign]
    obstacle: Event | None = None
    """Event that says why its Jobs cannot be created; None if there is none."""


@dataclass(frozen=True, slots=True)
class StatefulSet:
    """A StatefulSet with the cache pods of a dataset."""

    key: Key
    name: str
    created: str
    replicas: int
    ready: int
    """Number of ready pods; 0 until the StatefulSet controller of Kubernetes has seen the newest spec."""
    obstacle: Event | None = None
    """Event that says why no more of its pods can be created; None if there is none."""


def key_of(metadata: Mapping[str, Any], namespace: str) -> Key | None:
    """Return the key of the custom resource to which an object with this metadata belongs, by the object's labels.

    None if the labels name no custom resource, or one outside of `namespace`.
    """
    labels = metadata.get("labels") or {}
    if labels.get(SPEC_NAMESPACE, namespace) != namespace:
        return None
    kind, name = labels.get(SPEC_KIND), labels.get(SPEC_NAME)
    return (str(kind), str(name)) if kind and name else None


def job(manifest: Manifest, namespace: str) -> Job | None:
    """Return the Job with this manifest.

    None if the Job belongs to no custom resource in `namespace`, or if it is being deleted.
    """
    metadata, spec, status = _parts(manifest)
    key = key_of(metadata, namespace)
    if key is None or "deletionTimestamp" in metadata:
        return None
    labels = metadata.get("labels") or {}
    return Job(
        key=key,
        name=str(metadata["name"]),
        run=labels.get(RUN_HASH) or _tail(metadata["name"]),
        role=str(labels.get(ROLE) or labels.get(COMPONENT) or ""),
        created=str(metadata.get("creationTimestamp", "")),
        owner=next((o["name"] for o in metadata.get("ownerReferences") or () if o.get("kind") == "JobSet"), ""),
        suspended=bool(spec.get("suspend")),
        gate=_gate(metadata),
        parallelism=int(spec.get("parallelism", 1)),
        deadline=spec.get("activeDeadlineSeconds"),
        ended_because=str((metadata.get("annotations") or {}).get(ENDED_BECAUSE) or ""),
        resized=_resized(metadata),
        started=str(status.get("startTime", "")),
        completed=str(status.get("completionTime", "")),
        succeeded=int(status.get("succeeded", 0)),
        conditions=_true(manifest),
        output=int(labels[OUTPUT]) if str(labels.get(OUTPUT)).isdecimal() else None,
    )


def job_set(manifest: Manifest, namespace: str) -> JobSet | None:
    """Return this JobSet; None if it belongs to no custom resource in `namespace`, or if it is being deleted."""
    metadata, spec, status = _parts(manifest)
    key = key_of(metadata, namespace)
    if key is None or "deletionTimestamp" in metadata:
        return None
    return JobSet(
        key=key,
        name=str(metadata["name"]),
        run=_tail(metadata["name"]),
        created=str(metadata.get("creationTimestamp", "")),
        sizes={str(each["name"]): _size(each) for each in spec.get("replicatedJobs") or ()},
        gate=_gate(metadata),
        restarts=int(status.get("restarts", 0)),
        counted=int(status.get("restartsCountTowardsMax", 0)),
        conditions=_true(manifest),
    )


def stateful_set(manifest: Manifest, namespace: str) -> StatefulSet | None:
    """Return this StatefulSet; None if it belongs to no custom resource in `namespace`, or if it is being deleted."""
    metadata, spec, status = _parts(manifest)
    key = key_of(metadata, namespace)
    if key is None or "deletionTimestamp" in metadata:
        return None
    seen = int(status.get("observedGeneration", 0)) >= int(metadata.get("generation", 0))
    return StatefulSet(
        key=key,
        name=str(metadata["name"]),
        created=str(metadata.get("creationTimestamp", "")),
        replicas=int(spec.get("replicas", 1)),
        ready=int(status.get("readyReplicas", 0)) if seen else 0,
    )


def _gate(metadata: Manifest) -> str:
    notes = metadata.get("annotations") or {}
    return "" if OPENED in notes else str(notes.get(GATE_ANNOTATION) or "")


def _parts(manifest: Manifest) -> tuple[Manifest, Manifest, Manifest]:
    return manifest["metadata"], manifest.get("spec") or {}, manifest.get("status") or {}


def _tail(name: str) -> str:
    return str(name).rpartition("-")[2]


def _true(manifest: Manifest) -> dict[str, Sign]:
    return {
        kind: Sign("True", *(str(each.get(key) or "") for key in ("reason", "message", "lastTransitionTime")))
        for kind, each in true_conditions(manifest).items()
    }


def _size(replicated: Manifest) -> int:
    spec = (replicated.get("template") or {}).get("spec") or {}
    return int(replicated.get("replicas", 1)) * int(spec.get("parallelism", 1))


def _resized(metadata: Manifest) -> str:
    """Return the newest time at which a field manager that owns `spec.parallelism` wrote to the object.

    The time may be later than the last write of `parallelism` itself. Empty if no manager owns the field.
    """
    entries = metadata.get("managedFields") or ()
    times = [
        str(each.get("time") or "")
        for each in entries
        if "f:parallelism" in ((each.get("fieldsV1") or {}).get("f:spec") or {})
    ]
    return max(times, default="")
