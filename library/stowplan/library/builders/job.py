"""Jobs and CronJobs of the agents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import names
from stowplan.schema.agents.exit_codes import PERMANENT

MUTABLE = frozenset(
    "activeDeadlineSeconds backoffLimit maxFailedIndexes parallelism podReplacementPolicy suspend "
    "ttlSecondsAfterFinished".split()
)
"""Mutable fields of a Job's spec (Kubernetes 1.34 `ValidateJobUpdate`). All other fields are part of `group_hash`."""

BACKOFF_LIMIT = 6

GRACE = 30
"""Seconds between the agent's own deadline and the deadline of its pod or Job.

In this time the agent saves its progress and sends a last report.
"""

STARTING_DEADLINE = 3600
"""Seconds after which a CronJob skips a start that it missed, so that a resumed CronJob starts at no unwanted hour."""


LOST_NODE: Json = {"action": "Ignore", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]}
"""Rule of a Job: a pod that is lost with its cluster node is replaced, and that does not count as a failure.

It requires the restart policy `Never`.
"""


def on_exit(action: str, container: str, codes: Iterable[int]) -> Json:
    """Return a Job's rule: `action`, such as `FailJob`, if `container` (a name) ends with one of `codes`, ascending."""
    of_container = {"containerName": container, "operator": "In", "values": [int(code) for code in codes]}
    return {"action": action, "onExitCodes": of_container}


def soft_deadline(seconds: int | None) -> int | None:
    """Return the seconds after which the agent ends an attempt by itself; None if `seconds` is None.

    `seconds` is the deadline of the pod or Job. The result is `GRACE` seconds less, but at least half of it.
    """
    if seconds is None:
        return None
    return max(seconds - GRACE, seconds // 2, 1)


class Task(NamedTuple):
    """Job before `jobs` or `cron_job` names it. `stem` is the name without the hash, `spec` the Job's spec.

    `component` is the value of a label, `namespace` that of the Job, which may be another one than the spec's.
    """

    stem: str
    component: str
    namespace: str
    spec: Json


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The Jobs of one task, not yet named, and the ConfigMap that all of them mount."""

    configuration: Manifest
    jobs: tuple[Task, ...]


def job_spec(
    template: Json,
    *,
    container: str,
    deadline_seconds: int | None,
    suspend: bool,
    backoff_limit: int = BACKOFF_LIMIT,
) -> Json:
    """Return the spec of a Job with one pod at a time. A failed pod is retried unless its exit code is permanent.

    `container` names the container whose exit code counts. `deadline_seconds` is the deadline for all attempts
    together, None for no deadline.
    The Job has no time to live: Argo CD would see a removed Job as missing and run it again.
    """
    spec: Json = {
        "backoffLimit": backoff_limit,
        "completions": 1,
        "parallelism": 1,
        "podFailurePolicy": {"rules": [on_exit("FailJob", container, PERMANENT), LOST_NODE]},
        "template": template,
    }
    if deadline_seconds:
        spec["activeDeadlineSeconds"] = deadline_seconds
    if suspend:
        spec["suspend"] = True
    return spec


def group_hash(tasks: Sequence[Task], run: str) -> str:
    """Return one hash for all Jobs of a spec, over their immutable fields and the user's run marker `run`.

    The names of the Jobs end in this hash, so they are not part of it, and the pod templates must not contain them.
    """
    fixed = [[t.stem, t.namespace, {k: v for k, v in t.spec.items() if k not in MUTABLE}] for t in tasks]
    return names.content_hash(fixed, run)


def jobs(tasks: Sequence[Task], origin: Origin, run: str) -> list[Manifest]:
    """Return the Jobs of one spec. `run` is the value of the annotation `stowplan.dev/run`, empty if there is none.

    All names end in the same hash over all the Jobs, so an edit of one Job replaces all of them.
    """
    suffix = group_hash(tasks, run)
    return [_job(task, origin, suffix) for task in tasks]


def _job(task: Task, origin: Origin, suffix: str) -> Manifest:
    head = Head(origin, task.component, namespace=task.namespace)
    return manifest("Job", names.with_hash(task.stem, suffix), head, stem=task.stem, run=True, spec=task.spec)


def cron_job(task: Task, origin: Origin, *, schedule: str, time_zone: str | None) -> Manifest:
    """Return a CronJob for the task. It starts no Job while the last one is still active.

    `schedule` is a cron expression. `time_zone` is None for that of the cluster's controller.
    A CronJob is mutable, so its name has no hash. `suspend` applies to the CronJob, not to its Jobs.
    """
    job = {key: value for key, value in task.spec.items() if key != "suspend"}
    name = names.shorten(task.stem, names.CRON_JOB_LIMIT)
    spec: Json = {
        "concurrencyPolicy": "Forbid",
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"metadata": {"labels": dict(job["template"]["metadata"]["labels"])}, "spec": job},
        "schedule": schedule,
        "startingDeadlineSeconds": STARTING_DEADLINE,
        "successfulJobsHistoryLimit": 3,
    }
    if task.spec.get("suspend"):
        spec["suspend"] = True
    if time_zone:
        spec["timeZone"] = time_zone
    head = Head(origin, task.component, namespace=task.namespace)
    return manifest("CronJob", name, head, stem=task.stem, spec=spec)
