"""Status of a dataset (Dataset or SampleSet), without the fields that its agents write.

Agents write caches, partitions and attempts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from stowplan.agents.reporter import causes
from stowplan.agents.reporter.causes import Cause
from stowplan.agents.reporter.objects.observed import Observed, ObservedRun
from stowplan.agents.reporter.objects.pods import Pod
from stowplan.agents.reporter.objects.workloads import StatefulSet
from stowplan.agents.reporter.outcome import ABSENT, RunOutcome, of_job, together
from stowplan.agents.reporter.rules import tasks
from stowplan.agents.reporter.rules.conditions import Condition, Status, settled
from stowplan.agents.runtime import dataset_phase
from stowplan.agents.runtime.dataset_phase import Course, Phase

FIELDS = frozenset("phase run runtimeStatus conditions observedGeneration".split())

_WORD = re.compile(r"[A-Z][A-Za-z]+")
"""Reason before the colon of what a cache pod says."""

_CAME_TO_LIFE = ("PartialReady", "Ready")
_NO_SYNC = RunOutcome("complete", "NoSync", "The data is there already")


@dataclass(frozen=True, slots=True)
class DatasetSpec:
    """What the spec of a dataset asks for."""

    nodes: int | None
    """Number of cluster nodes that cache the data; None if the spec does not say."""
    filled: bool
    """Whether a sync fills the dataset."""
    cached: bool
    """Whether cluster nodes cache the dataset. Otherwise it has no cache pods."""


def status(seen: Observed, spec: DatasetSpec, run: ObservedRun, more: Sequence[Condition] = ()) -> Status:
    """Return all status fields that the reporter owns; absent ones are None or missing.

    `run` has the Jobs and pods of the newest sync and warmup. `more` are further conditions.
    """
    found = max(seen.sets, key=lambda each: (each.created, each.name), default=None)
    runtime = [pod for pod in seen.pods if not pod.job]
    wanted = int(spec.nodes or (found.replicas if found else 1))
    trouble = _trouble(seen, wanted)
    sync = _task(run, "sync", seen) if spec.filled else _NO_SYNC
    copies = _copies(seen, run)
    if spec.cached:
        course = _course(sync, copies=sync.state == "active" and copies)
        phase = _phase(seen, found, wanted, course, works=trouble is None)
    else:
        phase = dataset_phase.of_claim(_course(sync, copies=copies))
    cause = causes.of_work(runtime, seen.sets)
    if phase == "PartialReady":
        cause = cause or trouble
    filled = Condition("Ready", phase == "Ready", sync.reason, sync.message, sync.at)
    drafts = [_ready(phase, cause, found, wanted, sync) if spec.cached else filled]
    if spec.filled:
        drafts.append(Condition("Synced", sync.state == "complete", sync.reason, sync.message, sync.at))
    warmup = _task(run, "warmup", seen)
    if warmup.state != "absent":
        drafts.append(Condition("Warmed", warmup.state == "complete", warmup.reason, warmup.message, warmup.at))
        entries = tasks.attempts(seen.resource.status, "warmup")
        partitions = seen.resource.status.get("partitions") or ()
        drafts.append(tasks.cache_fit_of(entries, [job.name for job in run.jobs], partitions))
    drafts += more
    drafts.append(_stalled(cause, causes.of_work(run.pods, run.jobs), [*runtime, *run.pods]))
    return {
        "phase": phase,
        "run": (_run(run, seen) or None) if spec.filled else None,
        "runtimeStatus": _runtime(found),
        "conditions": settled(drafts, seen),
    }


def _task(run: ObservedRun, task: str, seen: Observed) -> RunOutcome:
    """Return the outcome of a task (`sync` or `warmup`) of the dataset.

    It comes from the task's Jobs. A sync without Jobs may run in another namespace, so its outcome comes from the
    reports of its agents.
    """
    jobs = [job for job in run.jobs if job.role == task]
    entries = tasks.attempts(seen.resource.status, task)
    if not jobs:
        return tasks.of_entries(entries) if task == "sync" else ABSENT
    own = replace(run, jobs=jobs, pods=[pod for pod in run.pods if pod.role == task])
    found, cause = tasks.judged(together([of_job(job) for job in jobs]), own, entries, {})
    if found.state == "active" and (why := cause or tasks.reported_trouble(entries, [job.name for job in jobs])):
        return RunOutcome("active", why.reason, why.message)
    return found


def _run(run: ObservedRun, seen: Observed) -> str:
    """Return the hash of the newest run of the sync; empty if it is not known.

    A sync without Jobs may run in another namespace, so it comes from the reports of its agents.
    """
    if any(job.role == "sync" for job in run.jobs):
        return run.name
    entries = tasks.attempts(seen.resource.status, "sync")
    return max((str(each.get("run") or "").rpartition("-")[2] for each in entries), default="")


def _trouble(seen: Observed, wanted: int) -> Cause | None:
    """Return what the cache pods say of mounts that they cannot use; None if all can be used.

    They say so within half a minute, long before a probe has failed so often that the pod is not ready.
    """
    entries = [each for each in seen.resource.status.get("partitions") or () if int(each.get("ordinal", 0)) < wanted]
    said = {int(each.get("ordinal", 0)): str(each["message"]) for each in entries if each.get("message")}
    if not said:
        return None
    word = next(iter(said.values())).partition(":")[0]
    text = "; ".join(f"partition {number}: {message}" for number, message in said.items())
    return Cause(word if _WORD.fullmatch(word) else "MountFaulty", text, 8)


def _phase(seen: Observed, found: StatefulSet | None, wanted: int, sync: Course, *, works: bool) -> Phase | None:
    """Return the phase of a dataset that nodes cache. `works` is whether no cache pod complains of its mount."""
    ready, replicas = (found.ready, found.replicas) if found else (0, -1)
    return dataset_phase.of_caches(
        sync,
        alive=ready > 0 or (found is not None and seen.resource.status.get("phase") in _CAME_TO_LIFE),
        whole=ready >= wanted and replicas == wanted and works,
        mounted=ready > 0,
        # The scheduler assigns no cluster node to a pod before the pod's claim is bound.
        bound=any(pod.node for pod in seen.pods if not pod.job),
    )


def _course(sync: RunOutcome, *, copies: bool) -> Course:
    if sync.state == "failed":
        return "failed"
    if sync.state == "complete":
        return "succeeded"
    return "under way" if copies else "unknown"


def _copies(seen: Observed, run: ObservedRun) -> bool:
    """Return whether the sync has begun: an agent has reported an attempt, or a pod has started its container.

    It also counts as begun between two attempts.
    """
    names = {job.name for job in run.jobs}
    entries = tasks.attempts(seen.resource.status, "sync")
    reported = any(not names or each.get("run") in names for each in entries)
    return reported or tasks.has_begun(pod for pod in run.pods if pod.role == "sync")


def _ready(
    phase: str | None, cause: Cause | None, found: StatefulSet | None, wanted: int, sync: RunOutcome
) -> Condition:
    if phase == "Ready":
        return Condition("Ready", holds=True, reason="Ready", message="All cache pods are ready")
    if phase == "SyncFailed":
        return Condition("Ready", holds=False, reason=sync.reason, message=sync.message)
    if cause:
        return Condition("Ready", holds=False, reason=cause.reason, message=cause.message)
    ready = found.ready if found else 0
    return Condition(
        "Ready", holds=False, reason=phase or "NotStarted", message=f"{ready} of {wanted} cache pods are ready"
    )


def _stalled(of_caches: Cause | None, of_tasks: Cause | None, pods: Sequence[Pod]) -> Condition:
    """Return the condition Stalled: the first lasting cause, of single pods, the cache pods or the tasks."""
    of_pods = causes.of_pods(pod for pod in pods if (each := causes.of_pod(pod)) and each.lasting)
    cause = next((each for each in (of_pods, of_caches, of_tasks) if each and each.lasting), None)
    if cause is None:
        return Condition("Stalled", holds=False, reason="NotStalled")
    return Condition("Stalled", holds=True, reason=cause.reason, message=cause.message, at=cause.at)


def _runtime(found: StatefulSet | None) -> Status | None:
    if found is None:
        return None
    return {
        "specReplicas": found.replicas,
        "readyReplicas": found.ready,
        "runtimeReady": f"{found.ready}/{found.replicas}",
    }
