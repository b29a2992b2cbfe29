"""Jobs, JobSets and StatefulSets, with no more of each than the rules need."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stowplan.agents.cluster.answers import Manifest

SPEC_KIND, SPEC_NAME = "stowplan.dev/kind", "stowplan.dev/name"
SPEC_NAMESPACE = "stowplan.dev/namespace"
"""On objects that do not live in the namespace of their spec."""
ROLE, RUN_HASH = "stowplan.dev/role", "stowplan.dev/run-hash"
COMPONENT = "app.kubernetes.io/component"

AWAIT = "await"
"""Name of the container that ends a helper with the Jobs that decide."""
WAIT = "wait-dataset"
"""Name of the init container that holds a pod back until its dataset is ready."""

Key = tuple[str, str]
"""A custom resource by its kind and the value of its label `stowplan.dev/name`."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A condition that is true."""

    reason: str
    message: str
    at: str
    """When it became true; empty where that is not said."""


@dataclass(frozen=True, slots=True)
class Job:
    """A Job, or the only Job of a role in a JobSet."""

    key: Key
    uid: str
    name: str
    run: str
    """The hash that ends its name; the scheduled minute where a CronJob made it."""
    role: str
    """Role of a training job, or the task."""
    created: str
    owner: str
    """Name of the JobSet that it belongs to; empty for none."""
    helper: bool
    """Whether its pods only wait for the Jobs that decide."""
    suspended: bool
    parallelism: int
    completions: int
    deadline: int | None
    resized: str
    """When somebody last wrote the number of its pods, by the API server's clock."""
    started: str
    completed: str
    active: int
    succeeded: int
    failed: int
    conditions: Mapping[str, Mark]


@dataclass(frozen=True, slots=True)
class JobSet:
    """A JobSet; `sizes` are the pods of each role."""

    key: Key
    uid: str
    name: str
    run: str
    created: str
    sizes: Mapping[str, int]
    conditions: Mapping[str, Mark]


@dataclass(frozen=True, slots=True)
class StatefulSet:
    """The cache pods of a dataset."""

    key: Key
    uid: str
    name: str
    created: str
    replicas: int
    ready: int
    """0 as long as the controller has not seen the newest spec."""


def key_of(metadata: Mapping[str, Any], namespace: str) -> Key | None:
    """The custom resource that an object belongs to, by its labels; None where that lives in another namespace."""
    labels = metadata.get("labels") or {}
    if labels.get(SPEC_NAMESPACE, namespace) != namespace:
        return None
    kind, name = labels.get(SPEC_KIND), labels.get(SPEC_NAME)
    return (str(kind), str(name)) if kind and name else None


def job(manifest: Manifest, namespace: str) -> Job | None:
    """From the manifest; None for one that belongs to no custom resource, or that is being deleted."""
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
    """From the manifest, as `job`."""
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
    """From the manifest, as `job`."""
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
    """A Job does not say when its size changed, but `managedFields` say when its writer last wrote anything."""
    entries = metadata.get("managedFields") or ()
    times = [
        str(each.get("time") or "")
        for each in entries
        if "f:parallelism" in ((each.get("fieldsV1") or {}).get("f:spec") or {})
    ]
    return max(times, default="")
