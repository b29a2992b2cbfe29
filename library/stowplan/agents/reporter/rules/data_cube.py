"""Status of a DataCube, without the fields that its transfer agent writes: progress, revision and the attempt."""

from collections.abc import Mapping
from typing import Any

from stowplan.agents.reporter.objects.observed import Observed, ObservedRun, latest, newest_time, present_run
from stowplan.agents.reporter.objects.pods import Pod
from stowplan.agents.reporter.outcome import RunOutcome, of_job, together
from stowplan.agents.reporter.rules import tasks
from stowplan.agents.reporter.rules.api import Rules
from stowplan.agents.reporter.rules.conditions import Condition, Status, by_type, is_final, of_work, settled
from stowplan.schema.kinds.data_cube_status import INITIALIZED


def status(seen: Observed) -> Status | None:
    """Return all status fields that the reporter owns; absent ones are None or missing. None to change nothing."""
    if is_final(seen):
        return None
    run = present_run(seen)
    if not run.is_there and seen.resource.spec.get("schedule"):
        return {}
    before, entries = _before(seen.resource.status, run), [seen.resource.status.get("attempt") or {}]
    found, cause = tasks.judged(together([of_job(job) for job in run.jobs]), run, entries, before)
    begun = found.is_over or tasks.has_begun(run.pods) or (bool(before) and before.get("phase") == "Running")
    return {
        "phase": tasks.phase(found, begun=begun),
        "run": run.name or None,
        "pod": _pod(run) or before.get("pod"),
        "conditions": _probed(settled([_initialized(found, run, begun=begun), *of_work(found, cause)[:3]], seen), seen),
    }


def _probed(conditions: list[Status], seen: Observed) -> list[Status]:
    """Return the conditions with `lastProbeTime`: the latest time in the objects, or the reported time if it is later.

    A clock would change every report, and two reporters would never agree.
    """
    before = by_type(seen.resource.status).values()
    at = latest([newest_time(seen), *(str(each.get("lastProbeTime") or "") for each in before)])
    return [{**each, "lastProbeTime": at} for each in conditions]


def _before(status: Mapping[str, Any], run: ObservedRun) -> Mapping[str, Any]:
    """Return `status` if its last report was about this run; otherwise an empty mapping.

    It is about this run if the name of the reported pod begins with the name of one of the run's Jobs.
    """
    name = ((status.get("pod") or {}).get("reference") or {}).get("name") or ""
    return status if any(str(name).startswith(f"{job.name}-") for job in run.jobs) else {}


def _initialized(found: RunOutcome, run: ObservedRun, *, begun: bool) -> Condition:
    reason = "Started" if begun else "NotStarted"
    at = min((pod.conditions["Ready"].at for pod in run.pods if "Ready" in pod.conditions), default="")
    return Condition("Initialized", begun, reason, INITIALIZED if begun else found.message, at if begun else "")


def _pod(run: ObservedRun) -> Status | None:
    newest = max(run.pods, key=lambda pod: (pod.created, pod.name), default=None)
    if newest is None:
        return None
    return {
        "reference": {"name": newest.name, "uid": newest.uid},
        "phase": newest.phase,
        "status": _word(newest),
    }


def _word(pod: Pod) -> str:
    """Return the word that `kubectl get pods` shows as the status of the pod, such as `ImagePullBackOff`."""
    if pod.phase == "Succeeded":
        return "Completed"
    if pod.reason:
        return pod.reason
    for each in pod.containers:
        if each.ended and each.ended.current:
            return each.ended.reason
        if each.waiting:
            return each.waiting.reason
    return "Terminating" if pod.deleting else pod.phase


RULES = Rules(status, frozenset("phase run pod conditions observedGeneration".split()), {"schedule": None})
