"""Pods, reduced to the values from which the reporter derives a status."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from sys import intern

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.reporter.objects.events import Event
from stowplan.agents.reporter.objects.workloads import (
    COMPONENT,
    LINEAGE,
    PEERS,
    ROLE,
    RUN_HASH,
    WAIT,
    Key,
    Sign,
    key_of,
)

JOB_NAME = "batch.kubernetes.io/job-name"
JOB_INDEX = "batch.kubernetes.io/job-completion-index"

_LONGEST = 600
"""Maximum length of a message in characters; longer ones are cut."""


@dataclass(frozen=True, slots=True)
class ContainerEnd:
    """The last end of a container."""

    code: int
    """Exit code."""
    reason: str
    message: str
    at: str
    """Time of the end (RFC 3339)."""
    current: bool
    """True if the container has not been started again since."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why a container does not run yet."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Container:
    """A container that waits, or that ended with an error."""

    name: str
    sidecar: bool
    restarts: int
    waiting: Waiting | None
    ended: ContainerEnd | None


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod that belongs to a custom resource."""

    key: Key
    """Key of the custom resource."""
    uid: str
    name: str
    job: str
    """Name of the pod's Job; empty for a cache pod."""
    run: str
    """Hash or scheduled minute at the end of the Job's name."""
    role: str
    """Role of a training job, or task of a dataset, to which the pod belongs."""
    index: int
    """Completion index of the pod in its Job; 0 if it has none."""
    node: str
    """Name of the cluster node; empty before the pod is scheduled."""
    phase: str
    reason: str
    """Why the whole pod failed, such as `Evicted`."""
    message: str
    created: str
    """Time of the creation (RFC 3339)."""
    deleting: bool
    complete: bool
    """Whether all containers run and are ready."""
    begun: bool
    """Whether a main container was ever started."""
    mounted: bool
    """Whether the volumes are mounted."""
    awaits: str
    """Name of the dataset that the pod waits for; empty for none."""
    awaits_peers: bool
    """Whether the pod waits for the addresses of the other pods of its job."""
    awaits_lineage: str
    """Name of the lineage of checkpoints that the pod waits for, since another run has it; empty for none."""
    conditions: Mapping[str, Sign]
    """Conditions by type, true or not: those that the reporter reads."""
    containers: tuple[Container, ...]
    """Containers that wait, or that ended with an error."""
    obstacle: Event | None = None
    """Event that says why the pod has not begun; None if there is none."""

    @property
    def is_running(self) -> bool:
        return self.phase == "Running" and self.complete

    @property
    def is_over(self) -> bool:
        return self.phase in ("Succeeded", "Failed")


_READ = ("DisruptionTarget", "PodScheduled", "Ready", "ContainersReady")


def pod(manifest: Manifest, namespace: str) -> Pod | None:
    """Return the pod with this manifest; None if it belongs to no custom resource in `namespace`."""
    metadata, spec, status = manifest["metadata"], manifest.get("spec") or {}, manifest.get("status") or {}
    key = key_of(metadata, namespace)
    if key is None:
        return None
    labels, notes = metadata.get("labels") or {}, metadata.get("annotations") or {}
    job, index = str(labels.get(JOB_NAME, "")), str(notes.get(JOB_INDEX))
    own = status.get("containerStatuses") or []
    initial = status.get("initContainerStatuses") or []
    sidecars = {each["name"] for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"}
    lasting = [*own, *(each for each in initial if each["name"] in sidecars)]
    return Pod(
        key=key,
        uid=str(metadata["uid"]),
        name=str(metadata["name"]),
        job=job,
        run=intern(str(labels.get(RUN_HASH) or job.rpartition("-")[2])),
        role=intern(str(labels.get(ROLE) or labels.get(COMPONENT) or "")),
        index=int(index) if index.isdecimal() else 0,
        node=intern(str(spec.get("nodeName", ""))),
        phase=intern(str(status.get("phase", "Pending"))),
        reason=intern(str(status.get("reason") or "")),
        message=_cut(status.get("message")),
        created=str(metadata.get("creationTimestamp", "")),
        deleting="deletionTimestamp" in metadata,
        complete=bool(own) and all(each.get("ready") for each in lasting),
        begun=any(map(_has_begun, own)),
        mounted=_is_mounted(status) or any(map(_has_begun, [*initial, *own])),
        awaits=next((_argument(spec, each["name"], "--dataset") for each in initial if _waits(each)), ""),
        awaits_peers=any(_runs(each, PEERS) for each in initial),
        awaits_lineage=_argument(spec, LINEAGE, "--lineage") if any(map(_waits_for_lineage, initial)) else "",
        conditions={each["type"]: _sign(each) for each in status.get("conditions") or () if each["type"] in _READ},
        containers=tuple(_containers([*initial, *own], sidecars)),
    )


def _has_begun(container: Manifest) -> bool:
    return bool(set(container.get("state") or ()) & {"running", "terminated"} or container.get("lastState"))


def _is_mounted(status: Manifest) -> bool:
    """Return whether the pod has a sandbox, which the kubelet makes after all volumes are mounted."""
    conditions = status.get("conditions") or ()
    return any((each["type"], each.get("status")) == ("PodReadyToStartContainers", "True") for each in conditions)


def _cut(text: object) -> str:
    return str(text or "")[:_LONGEST]


def _runs(status: Manifest, container: str) -> bool:
    return status["name"] == container and "running" in (status.get("state") or {})


def _waits_for_lineage(status: Manifest) -> bool:
    """Return whether the sidecar runs, but its startup probe has not succeeded yet."""
    return _runs(status, LINEAGE) and not status.get("started")


def _waits(status: Manifest) -> bool:
    """Return whether this is the status of a container that waits for a dataset now."""
    name = str(status["name"])
    return (name == WAIT or name.startswith(f"{WAIT}-")) and _runs(status, name)


def _argument(spec: Manifest, container: str, option: str) -> str:
    """Return the value of an option in the arguments of an init container; empty if there is none."""
    words = next((each.get("args") or () for each in spec.get("initContainers") or () if each["name"] == container), ())
    return next((intern(str(value)) for each, value in pairwise(words) if each == option), "")


def _sign(condition: Manifest) -> Sign:
    return Sign(
        intern(str(condition.get("status"))),
        intern(str(condition.get("reason") or "")),
        _cut(condition.get("message")),
        str(condition.get("lastTransitionTime") or ""),
    )


def _containers(statuses: Iterable[Manifest], sidecars: set[str]) -> Iterator[Container]:
    for each in statuses:
        state, before = each.get("state") or {}, each.get("lastState") or {}
        waiting = state.get("waiting")
        now, last = state.get("terminated"), before.get("terminated")
        ended = _ended(now, current=True) if now else _ended(last, current=False) if last else None
        if ended is not None and not ended.code:
            ended = None
        if waiting or ended:
            yield Container(
                name=intern(str(each["name"])),
                sidecar=each["name"] in sidecars,
                restarts=int(each.get("restartCount", 0)),
                waiting=Waiting(intern(str(waiting.get("reason") or "")), _cut(waiting.get("message")))
                if waiting
                else None,
                ended=ended,
            )


def _ended(state: Manifest, *, current: bool) -> ContainerEnd:
    reason, message = _last_words(str(state.get("message") or ""))
    return ContainerEnd(
        int(state.get("exitCode", 0)),
        intern(str(state.get("reason") or reason) if state.get("reason") not in (None, "Error") else reason or "Error"),
        message[:_LONGEST],
        str(state.get("finishedAt") or ""),
        current,
    )


def _last_words(text: str) -> tuple[str, str]:
    """Return the reason and the message in a termination message.

    An agent writes a JSON object with both. For any other program, the reason is empty and the message is the whole
    string.
    """
    try:
        words = json.loads(text) if text.startswith("{") else None
    except ValueError:
        words = None
    if not isinstance(words, dict):
        return "", text.strip()
    return str(words.get("reason") or ""), str(words.get("message") or "")
