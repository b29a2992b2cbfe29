"""Jobs and CronJobs of the agents."""

from collections.abc import Sequence
from typing import NamedTuple

from stowplan.library.builders.metadata import metadata
from stowplan.library.ir.data import Origin
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import names
from stowplan.schema.agents.exit_codes import PERMANENT

MUTABLE = frozenset(
    "activeDeadlineSeconds backoffLimit maxFailedIndexes parallelism podReplacementPolicy suspend "
    "ttlSecondsAfterFinished".split()
)
"""Fields of a Job that may change in place (Kubernetes 1.34 `ValidateJobUpdate`); the others are in the hash."""

BACKOFF_LIMIT = 6

GRACE = 30
"""Seconds between the agent's own deadline and that of its pod or Job: time to keep what is done and to say so."""

STARTING_DEADLINE = 3600
"""Seconds after which a run that was missed is left out, so that a resumed CronJob does not catch up at any hour."""


_FINAL = [int(code) for code in PERMANENT]
_LOST_NODE: Json = {"action": "Ignore", "onPodConditions": [{"status": "True", "type": "DisruptionTarget"}]}


def soft_deadline(seconds: int | None) -> int | None:
    """Seconds after which the agent ends an attempt by itself, where `seconds` would end it from outside."""
    if seconds is None:
        return None
    return max(seconds - GRACE, seconds // 2, 1)


class Task(NamedTuple):
    """A Job before it has its name: the name's stem, and the spec."""

    stem: str
    component: str
    namespace: str
    spec: Json


def job_spec(
    template: Json,
    *,
    container: str,
    deadline_seconds: int | None,
    suspend: bool,
    backoff_limit: int = BACKOFF_LIMIT,
) -> Json:
    """One pod at a time, tried again unless its exit code says that this cannot help.

    There is no time to live: Argo CD would see a removed Job as missing and run it again.
    """
    spec: Json = {
        "backoffLimit": backoff_limit,
        "completions": 1,
        "parallelism": 1,
        "podFailurePolicy": {
            "rules": [
                {
                    "action": "FailJob",
                    "onExitCodes": {
                        "containerName": container,
                        "operator": "In",
                        "values": _FINAL,
                    },
                },
                _LOST_NODE,
            ]
        },
        "template": template,
    }
    if deadline_seconds:
        spec["activeDeadlineSeconds"] = deadline_seconds
    if suspend:
        spec["suspend"] = True
    return spec


def group_hash(tasks: Sequence[Task], run: str) -> str:
    """One hash for all Jobs of a spec, over what cannot change in place and the user's run marker.

    Names are left out, so the templates must not hold them.
    """
    fixed = [[t.stem, t.namespace, {k: v for k, v in t.spec.items() if k not in MUTABLE}] for t in tasks]
    return names.content_hash(fixed, run)


def jobs(tasks: Sequence[Task], origin: Origin, run: str) -> list[Manifest]:
    """The Jobs of one spec. Their names end in the hash of the group: an edit of one replaces all."""
    suffix = group_hash(tasks, run)
    return [_job(task, origin, suffix) for task in tasks]


def _job(task: Task, origin: Origin, suffix: str) -> Manifest:
    name = names.with_hash(task.stem, suffix)
    body = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata("Job", name, origin, task.component, namespace=task.namespace),
        "spec": task.spec,
    }
    return Manifest(body, stem=task.stem, run=True)


def cron_job(task: Task, origin: Origin, *, schedule: str, time_zone: str | None) -> Manifest:
    """The same task at the times of `schedule`; a run that is still going is not joined by a second one.

    A CronJob can be edited, so its name carries no hash. `suspend` belongs to it, not to its Jobs.
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
    body = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": metadata("CronJob", name, origin, task.component, namespace=task.namespace),
        "spec": spec,
    }
    return Manifest(body, stem=task.stem)
