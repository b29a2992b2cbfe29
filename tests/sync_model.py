"""A model of how Argo CD syncs one Application: in which order, and where it waits.

It follows gitops-engine as of Argo CD 3.x: `pkg/sync/sync_tasks.go` for the order, `pkg/sync/sync_context.go` for
waves, pruning and waiting. It needs no cluster: objects in, steps out. The API server of the model refuses nothing.
Where a real one does, Argo CD 3.4 and later wait for the health of that wave, also of the last, before they try again.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby, zip_longest
from typing import Any

from stowplan.compiler.checks.objects.sync_phases import HOOK, PHASES, is_awaited, phase_of
from stowplan.compiler.kubernetes.fields import annotation, mapping, parts, wave_from
from stowplan.library.manifest import Json, group_of
from stowplan.library.values import labels

KINDS = (
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
)
"""First to last within a wave; every other kind comes after them, by its name."""

_RANKS = {kind: rank for rank, kind in enumerate(KINDS)}


class Gate(StrEnum):
    """What a wave that is not the last waits for."""

    NOTHING = "nothing"
    HEALTH = "health"
    COMPLETION = "completion"
    CONFIRMATION = "confirmation"


@dataclass(frozen=True, slots=True)
class Task:
    """One object that a sync applies or, with `prune`, deletes. `wave` is that in which it happens."""

    body: Json
    phase: str
    wave: int
    prune: bool = False

    @property
    def kind(self) -> tuple[str, str]:
        """Group and kind."""
        return group_of(str(self.body["apiVersion"])), str(self.body["kind"])

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def gate(self) -> Gate:
        """What a wave with this task in it waits for."""
        if self.prune:
            return Gate.CONFIRMATION if "Prune=confirm" in sync_options(self.body) else Gate.NOTHING
        return _gate_of(self.kind, self.body)


@dataclass(frozen=True, slots=True)
class Step:
    """All tasks of one phase and wave: applied together, kind by kind, what is pruned first."""

    phase: str
    wave: int
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """A task that a sync waits for before its next step, with no limit of its own.

    Meanwhile the Application syncs nothing else: a fix that was committed waits too.
    """

    task: Task
    gate: Gate
    next_step: Step | None


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """The steps of one sync, in their order."""

    steps: tuple[Step, ...]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks in the order in which Argo CD takes them up."""
        return tuple(task for step in self.steps for task in step.tasks)

    @property
    def holds(self) -> tuple[Hold, ...]:
        """Where the sync waits. The last step is done as soon as it is applied, unless it has hooks.

        A prune that wants to be confirmed holds the whole operation, in whatever step it stands.
        """
        held = []
        for step, after in zip_longest(self.steps, self.steps[1:]):
            for task in step.tasks:
                hooked = HOOK in mapping(task.body, "metadata", "annotations")
                if task.gate is not Gate.NOTHING and (after or hooked or task.gate is Gate.CONFIRMATION):
                    held.append(Hold(task, task.gate, after))
        return tuple(held)


def plan(applied: Iterable[Json], pruned: Iterable[Json] = (), *, prune_last: bool = False) -> SyncPlan:
    """The plan of a sync that applies some objects and prunes others.

    `prune_last` is the Application's option `PruneLast=true`. What says `Prune=false` is no task.
    """
    tasks = [_task(body) for body in applied]
    tasks += _prunes(pruned, _last_wave(tasks), prune_last=prune_last)
    ordered = sorted((task for task in tasks if task.phase in PHASES), key=_sort_key)
    ordered = _bubbled(ordered, _namespace_made, lambda task: task.body["metadata"].get("namespace"))
    ordered = _bubbled(ordered, _kind_made, lambda task: task.kind)
    groups = groupby(ordered, key=lambda task: (task.phase, task.wave))
    return SyncPlan(tuple(Step(phase, wave, _prunes_first(group)) for (phase, wave), group in groups))


def _gate_of(kind: tuple[str, str], body: Json) -> Gate:
    if kind in (("batch", "Job"), ("", "Pod")):
        return Gate.COMPLETION
    return Gate.HEALTH if is_awaited(kind, body) else Gate.NOTHING


def _phase(body: Json) -> str:
    """The name of the phase; empty if the hook annotation names none."""
    index = phase_of(annotation(body, HOOK))
    return PHASES[index] if index >= 0 else ""


def sync_options(body: Json) -> tuple[str, ...]:
    """The sync options in the annotation of an object."""
    return parts(annotation(body, labels.SYNC_OPTIONS))


def _wave(body: Json) -> int:
    return wave_from(annotation(body, labels.SYNC_WAVE))


def _task(body: Json) -> Task:
    return Task(body, _phase(body), _wave(body))


def _last_wave(tasks: Sequence[Task]) -> int:
    return max((task.wave for task in tasks if task.phase == "Sync"), default=0)


def _prunes(bodies: Iterable[Json], last_wave: int, *, prune_last: bool) -> list[Task]:
    """Prune tasks: waves mirrored, so that what was applied last goes first; `PruneLast` ones after everything."""
    tasks = [Task(body, "Sync", _wave(body), prune=True) for body in bodies]
    tasks = [task for task in tasks if "Prune=false" not in sync_options(task.body)]
    waves = sorted({task.wave for task in tasks})
    mirrored = dict(zip(waves, reversed(waves), strict=True))
    return [
        replace(task, wave=last_wave + 1 if prune_last or _goes_last(task) else mirrored[task.wave]) for task in tasks
    ]


def _goes_last(task: Task) -> bool:
    return "PruneLast=true" in sync_options(task.body)


def _sort_key(task: Task) -> tuple[int, int, int, str, str]:
    kind = str(task.body["kind"])
    return PHASES.index(task.phase), task.wave, _RANKS.get(kind, len(KINDS)), kind, task.name


def _prunes_first(tasks: Iterable[Task]) -> tuple[Task, ...]:
    return tuple(sorted(tasks, key=lambda task: not task.prune))


def _bubbled(tasks: Sequence[Task], made: Callable[[Task], Hashable | None], used: Callable[[Task], Any]) -> list[Task]:
    """Each task that makes something moves before the first that uses it, and takes that one's phase and wave."""
    result: list[Task] = []
    for task in tasks:
        key = None if task.prune else made(task)
        # Most tasks make nothing: only for the others is the whole result looked through.
        place = None if key is None else next((i for i, other in enumerate(result) if used(other) == key), None)
        if place is None:
            result.append(task)
        else:
            result.insert(place, replace(task, phase=result[place].phase, wave=result[place].wave))
    return result


def _namespace_made(task: Task) -> str | None:
    return task.name if task.body["kind"] == "Namespace" and task.kind == ("", "Namespace") else None


def _kind_made(task: Task) -> tuple[object, object] | None:
    if task.body["kind"] != "CustomResourceDefinition":
        return None
    return mapping(task.body, "spec").get("group"), mapping(task.body, "spec", "names").get("kind")
