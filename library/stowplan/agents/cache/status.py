"""Status fields that a task writes: the entry of its attempt, and the phase if no other program derives the phase."""

from collections.abc import Mapping, Sequence
from typing import Any

from stowplan.agents.attempt.outcome import FAILED, RUNNING, SUCCEEDED, condition, filled
from stowplan.agents.attempt.report import Status, StatusReporter
from stowplan.agents.cache.drivers.task_settings import TaskConfig
from stowplan.agents.cache.drivers.work import TaskOutcome
from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.runtime import cache_fit
from stowplan.schema.agents.cache_config import CACHE_TOO_SMALL, ClearConfig, WarmupConfig
from stowplan.schema.kinds.table import DATASET_KINDS, TASK_FIELDS

Entry = Mapping[str, Any]


class TaskReporter(StatusReporter):
    """Reporter of a task's status. The API server refuses a phase if the custom resource changed since it was read.

    The phase follows from the status entries of all partitions of a task. Another task may have written its entry
    meanwhile, so that the phase would be out of date.
    """

    def _manifest(self, found: Manifest, status: Status) -> Manifest:
        manifest = super()._manifest(found, status)
        if "phase" in status:
            manifest["metadata"]["resourceVersion"] = found["metadata"].get("resourceVersion")
        return manifest


def status(config: TaskConfig, outcome: TaskOutcome, found: Manifest | None) -> Status:
    """Return the status fields to apply, without times.

    `found` is the current custom resource; None if the caller only checks whether this task's own fields changed.
    """
    own = outcome.entry()
    present = (found or {}).get("status") or {}
    if outcome.remark == CACHE_TOO_SMALL:
        # Its cache pod reports it.
        budgets = {each.get("ordinal"): each.get("budgetBytes") for each in present.get("partitions") or ()}
        own |= {"budgetBytes": budget} if (budget := budgets.get(outcome.partition)) else {}
    status: Status = {"attempts": [own]}
    if outcome.revision and outcome.result != RUNNING and config.target.kind in DATASET_KINDS:
        status["revision"] = outcome.revision
    if not config.report_phase:
        return status
    if config.target.kind == "Dataset":
        return status | filled(outcome)
    # The phase of a SampleSet depends on several tasks: its cache pods derive it.
    if config.target.kind not in TASK_FIELDS:
        return status
    entries = _of_this_run(outcome, own, present)
    partitions = (config.partitions or 1) if isinstance(config, WarmupConfig | ClearConfig) else 1
    return status | _phase(entries, partitions, config.target.kind)


def _of_this_run(outcome: TaskOutcome, own: Entry, present: Mapping[str, Any]) -> list[Entry]:
    """Return the entries of this task in the present run: one for each partition that has one, sorted by partition.

    The Jobs of a run have names with the same ending: a hash or a scheduled time. `own` is this attempt's entry, and
    `present` the status as it was read.
    """
    ending = (outcome.run or "").rpartition("-")[2]
    others = [
        each
        for each in present.get("attempts") or ()
        if each.get("task") == outcome.task
        and each.get("partition") != outcome.partition
        and (each.get("run") or "").rpartition("-")[2] == ending
    ]
    return sorted([own, *others], key=lambda each: int(each["partition"]))


def _phase(entries: Sequence[Entry], partitions: int, kind: str) -> Status:
    """Return the status fields that follow from the attempts of all partitions: phase, Job, counts and conditions.

    The phase `Failed` may be temporary, since the task does not know whether the Job retries.
    """
    states = [str(each.get("state")) for each in entries]
    failed, succeeded = states.count(FAILED), states.count(SUCCEEDED)
    counts = {
        "total": partitions,
        "running": len(states) - failed - succeeded,
        "succeeded": succeeded,
        "failed": failed,
    }
    if failed:
        phase, word = "Failed", next(each for each in entries if each.get("state") == FAILED)
        reason, message = str(word.get("reason") or "Failed"), str(word.get("message") or "")
    elif succeeded >= partitions:
        phase, reason, message = "Succeeded", "Succeeded", str(entries[0].get("message") or "")
    else:
        phase, reason, message = "Running", "Running", f"{succeeded} of {partitions} partitions are done"
    held = {"Complete": phase == "Succeeded", "Failed": phase == "Failed"}
    small = cache_fit.too_small(entries, ())
    fit = condition(CACHE_TOO_SMALL, CACHE_TOO_SMALL if small else cache_fit.FITS, small, holds=bool(small))
    job_field, counts_field = TASK_FIELDS[kind]
    return {
        "phase": phase,
        job_field: entries[0].get("run") or "",
        counts_field: counts,
        "conditions": [
            *(condition(name, reason, message, holds=holds) for name, holds in held.items()),
            *([fit] if entries[0].get("task") == "warmup" else ()),
        ],
    }
