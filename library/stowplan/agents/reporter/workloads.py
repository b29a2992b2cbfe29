"""Jobs, JobSets and StatefulSets, reduced to the values that the rules need."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cluster.answers import Manifest

SPEC_KIND, SPEC_NAME = "stowplan.dev/kind", "stowplan.dev/name"
SPEC_NAMESPACE = "stowplan.dev/namespace"
"""Label of objects outside the namespace of their spec."""
ROLE, RUN_HASH = "stowplan.dev/role", "stowplan.dev/run-hash"
COMPONENT = "app.kubernetes.io/component"

AWAIT = "await"
"""Name of the container that ends a helper together with the deciding Jobs."""
WAIT = "wait-dataset"
"""Name of the init container that delays a pod until its dataset is ready."""

Key = tuple[str, str]
"""Kind of a custom resource, and the value of the label `stowplan.dev/name`."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A condition that is true."""

    reason: str
    message: str
    at: str
    """Time at which the condition became true; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Job:
    """A Job, or the only Job of a role in a JobSet."""

    key: Key
    uid: str
    name: str
    run: str
    """Hash at the end of the Job's name; the scheduled minute for a Job of a CronJob."""
    role: str
    """Role of a training job, or the task."""
    created: str
    owner: str
    """Name of the Job's JobSet; empty for none."""
    helper: bool
    """Whether the pods only wait for the deciding Jobs."""
    suspended: bool
    parallelism: int
    completions: int
    deadline: int | None
    resized: str
    """Time of the last write of the number of pods, by the API server's clock."""
    started: str
    completed: str
    active: int
    succeeded: int
    failed: int
    conditions: Mapping[str, Mark]


@dataclass(frozen=True, slots=True)
class JobSet:
    """A JobSet. `sizes` are the numbers of pods by role."""

    key: Key
    uid: str
    name: str
    run: str
    created: str
    sizes: Mapping[str, int]
    conditions: Mapping[str, Mark]


@dataclass(frozen=True, slots=True)
class StatefulSet:
    """A StatefulSet with the cache pods of a dataset."""

    key: Key
    uid: str
    name: str
    created: str
    replicas: int
    ready: int
    """Number of ready pods; 0 until the controller has seen the newest spec."""


def key_of(metadata: Mapping[str, Any], namespace: str) -> Key | None:
    """Return an object's custom resource by its labels; None if it has none, or if that is in another namespace."""
    labels = metadata.get("labels") or {}
    if labels.get(SPEC_NAMESPACE, namespace) != namespace:
        return None
    kind, name = labels.get(SPEC_KIND), labels.get(SPEC_NAME)
    return (str(kind), str(name)) if kind and name else None


def job(manifest: Manifest, namespace: str) -> Job | None:
    """Parse a manifest; None for a Job that belongs to no custom resource, or that is being deleted."""
    metadata, spec, status = _parts(manifest)
    key = key_of(metadata, namespace)
    if key is None or "deletionTimestamp" in metadata:
        return None
    labels = metadata.get("labels") or {}
    containers = ((spec.get("template") or {}).get("spec") or {}).get("containers") or ()
    parallelism = int(spec.get("parallelism", 1))
    return Job(
        key=key,
        uid=str(metadata["uid"]),
        name=str(metadata["name"]),
        run=labels.get(RUN_HASH) or _tail(metadata["name"]),
        role=str(labels.get(ROLE) or labels.get(COMPONENT) or ""),
        created=str(metadata.get("creationTimestamp", "")),
        owner=next((o["name"] for o in metadata.get("ownerReferences") or () if o.get("kind") == "JobSet"), ""),
        helper=[each.get("name") for each in containers] == [AWAIT],
        suspended=bool(spec.get("suspend")),
        parallelism=parallelism,
        completions=int(spec.get("completions") or parallelism),
        deadline=spec.get("activeDeadlineSeconds"),
        resized=_resized(metadata),
        started=str(status.get("startTime", "")),
        completed=str(status.get("completionTime", "")),
        active=int(status.get("active", 0)),
        succeeded=int(status.get("succeeded", 0)),
        failed=int(status.get("failed", 0)),
        conditions=_true(status),
    )


def job_set(manifest: Manifest, namespace: str) -> JobSet | None:
    """Parse a manifest, as `job` does."""
    metadata, spec, status = _parts(manifest)
    key = key_of(metadata, namespace)
    if key is None or "deletionTimestamp" in metadata:
        return None
    return JobSet(
        key=key,
        uid=str(metadata["uid"]),
        name=str(metadata["name"]),
        run=_tail(metadata["name"]),
        created=str(metadata.get("creationTimestamp", "")),
        sizes={str(each["name"]): _size(each) for each in spec.get("replicatedJobs") or ()},
        conditions=_true(status),
    )


def stateful_set(manifest: Manifest, namespace: str) -> StatefulSet | None:
    """Parse a manifest, as `job` does."""
    metadata, spec, status = _parts(manifest)
    key = key_of(metadata, namespace)
    if key is None or "deletionTimestamp" in metadata:
        return None
    seen = int(status.get("observedGeneration", 0)) >= int(metadata.get("generation", 0))
    return StatefulSet(
        key=key,
        uid=str(metadata["uid"]),
        name=str(metadata["name"]),
        created=str(metadata.get("creationTimestamp", "")),
        replicas=int(spec.get("replicas", 1)),
        ready=int(status.get("readyReplicas", 0)) if seen else 0,
    )


def _parts(manifest: Manifest) -> tuple[Manifest, Manifest, Manifest]:
    return manifest["metadata"], manifest.get("spec") or {}, manifest.get("status") or {}


def _tail(name: str) -> str:
    return str(name).rpartition("-")[2]


def _true(status: Manifest) -> dict[str, Mark]:
    conditions: Iterable[Manifest] = status.get("conditions") or ()
    return {
        str(each["type"]): Mark(
            str(each.get("reason") or ""), str(each.get("message") or ""), str(each.get("lastTransitionTime") or "")
        )
        for each in conditions
        if each.get("status") == "True"
    }


def _size(replicated: Manifest) -> int:
    spec = (replicated.get("template") or {}).get("spec") or {}
    return int(replicated.get("replicas", 1)) * int(spec.get("parallelism", 1))


def _resized(metadata: Manifest) -> str:
    """Return the newest time in `managedFields` of a writer of `parallelism`, which may be later than that write."""
    entries = metadata.get("managedFields") or ()
    times = [
        str(each.get("time") or "")
        for each in entries
        if "f:parallelism" in ((each.get("fieldsV1") or {}).get("f:spec") or {})
    ]
    return max(times, default="")
