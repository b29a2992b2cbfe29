"""Status of the outputs of a Training, by the Jobs that copy them, and its effect on phase and conditions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from stowplan.agents.reporter import causes, outcome
from stowplan.agents.reporter.objects.observed import Observed, latest
from stowplan.agents.reporter.objects.workloads import Job
from stowplan.agents.reporter.outcome import RunOutcome
from stowplan.schema.kinds.native.training_status import OutputPhase

COPYING, COPY_FAILED = "CopyingOutputs", "OutputFailed"
"""Reasons of the whole: an output is being copied, or could not be."""


@dataclass(frozen=True, slots=True)
class Output:
    """One output: its path, its phase, and why it is in that phase, for people. `at` is when it ended (RFC 3339)."""

    path: str
    phase: OutputPhase
    message: str = ""
    at: str = ""

    def fields(self) -> dict[str, Any]:
        """Return the entry of the status."""
        return {"path": self.path, "phase": self.phase, **({"message": self.message} if self.message else {})}


def without(seen: Observed) -> Observed:
    """Return what was observed of the run itself: without the Jobs and pods that copy outputs."""
    names = {job.name for job in seen.jobs if job.output is not None}
    jobs = [job for job in seen.jobs if job.output is None]
    return replace(seen, jobs=jobs, pods=[pod for pod in seen.pods if pod.job not in names])


def of_run(seen: Observed, run: RunOutcome) -> list[Output]:
    """Return the outputs in the order of the spec. `run` is the outcome of the run that they wait for."""
    given: Sequence[dict[str, Any]] = seen.resource.spec.get("outputs") or ()
    return [_output(each, index, seen, run) for index, each in enumerate(given)]


def whole(run: RunOutcome, outputs: Sequence[Output]) -> RunOutcome:
    """Return the outcome of a run with its outputs: it is complete once all of them are copied.

    A run that failed has failed, whatever is copied after it.
    """
    if run.state != "complete":
        return run
    if failed := next((each for each in outputs if each.phase == "Failed"), None):
        return RunOutcome("failed", COPY_FAILED, f"{failed.path} was not copied: {failed.message}", failed.at)
    if missing := [each.path for each in outputs if each.phase not in ("Succeeded", "Skipped")]:
        return RunOutcome("active", COPYING, f"The run is complete; {' and '.join(missing)} is being copied")
    return replace(run, at=latest([run.at, *(each.at for each in outputs)]))


def _output(given: dict[str, Any], index: int, seen: Observed, run: RunOutcome) -> Output:
    path = str(given.get("path") or "")
    if run.state == "failed" and given.get("when", "success") == "success":
        return Output(path, "Skipped", "The run failed, and this output is for success")
    if not run.is_over:
        return Output(path, "Waiting")
    jobs = [job for job in seen.jobs if job.output == index]
    if not jobs:
        return Output(path, "Pending", "There is no Job yet")
    return _copied(path, max(jobs, key=lambda job: (job.created, job.name)), seen)


def _copied(path: str, job: Job, seen: Observed) -> Output:
    """Return an output whose run is over, by its Job."""
    found = outcome.of_job(job)
    cause = causes.of_work([pod for pod in seen.pods if pod.job == job.name], [job])
    if found.state == "complete":
        return Output(path, "Succeeded", at=found.at)
    if found.state == "failed":
        return Output(path, "Failed", outcome.explained(found, cause).message, found.at)
    return Output(path, "Running", cause.message if cause else "")
