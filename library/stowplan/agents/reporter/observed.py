"""All objects of one custom resource, and its present run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stowplan.agents.reporter.pods import Pod
from stowplan.agents.reporter.resources import Resource
from stowplan.agents.reporter.workloads import Job, JobSet, StatefulSet
from stowplan.schema.agents.reporter_config import MxnetSuccess


@dataclass(frozen=True, slots=True)
class Observed:
    """A custom resource with all objects that have its labels."""

    resource: Resource
    jobs: Sequence[Job] = ()
    job_sets: Sequence[JobSet] = ()
    sets: Sequence[StatefulSet] = ()
    pods: Sequence[Pod] = ()
    partitions: int | None = None
    """Number of partitions of a SampleJob's SampleSet; None if unknown."""
    mxnet_success: MxnetSuccess = "scheduler"
    """The role that decides the success of a distributed MxJob."""


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """The objects of one run: their names end in the same hash, or in the same scheduled minute."""

    name: str
    jobs: Sequence[Job]
    job_sets: Sequence[JobSet]
    pods: Sequence[Pod]

    @property
    def is_there(self) -> bool:
        return bool(self.jobs or self.job_sets)


def present_run(seen: Observed) -> ObservedRun:
    """Return the run whose objects were created last; an empty run if no objects exist.

    After an edit the old run's objects remain for a moment; they are ignored.
    """
    made: dict[str, str] = {}
    workloads: Sequence[Job | JobSet] = [*seen.jobs, *seen.job_sets]
    for each in workloads:
        made[each.run] = max(made.get(each.run, ""), each.created)
    newest = max(made, key=lambda run: (made[run], run), default="")
    return of(seen, newest)


def of(seen: Observed, run: str) -> ObservedRun:
    """Return the objects of the run with that name. The cache pods of a dataset belong to no run."""
    jobs = sorted((job for job in seen.jobs if job.run == run), key=_by_name)
    job_sets = [each for each in seen.job_sets if each.run == run]
    pods = sorted((pod for pod in seen.pods if pod.job and pod.run == run), key=lambda pod: (pod.index, pod.name))
    return ObservedRun(run, jobs, job_sets, pods)


def _by_name(job: Job) -> tuple[int, str]:
    """Return a sort key that puts partition 2 before partition 10."""
    return len(job.name), job.name


def newest_time(seen: Observed) -> str:
    """Return the latest time in any of the objects. The present state became true at that time or later.

    Rules read no clock: a wrong clock does no harm, and two reporters write the same status.
    """
    workloads: Sequence[Job | JobSet] = [*seen.jobs, *seen.job_sets]
    others: Sequence[StatefulSet | Pod] = [*seen.sets, *seen.pods]
    times = [seen.resource.created]
    times += [each.created for each in workloads] + [each.created for each in others]
    times += [mark.at for each in workloads for mark in each.conditions.values()]
    times += [sign.at for pod in seen.pods for sign in pod.conditions.values()]
    return max(times)


def earliest(times: Iterable[str]) -> str:
    """Return the earliest known time; empty if all are unknown."""
    return min((time for time in times if time), default="")


def latest(times: Iterable[str]) -> str:
    """Return the latest known time; empty if all are unknown."""
    return max((time for time in times if time), default="")
