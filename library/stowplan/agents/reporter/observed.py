"""All that belongs to one custom resource, and the run of it that counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stowplan.agents.reporter.pods import Pod
from stowplan.agents.reporter.resources import Resource
from stowplan.agents.reporter.workloads import Job, JobSet, StatefulSet
from stowplan.schema.agents.reporter_config import MxnetSuccess


@dataclass(frozen=True, slots=True)
class Observed:
    """A custom resource with everything that carries its labels."""

    resource: Resource
    jobs: Sequence[Job] = ()
    job_sets: Sequence[JobSet] = ()
    sets: Sequence[StatefulSet] = ()
    pods: Sequence[Pod] = ()
    partitions: int | None = None
    """Of the SampleSet that a SampleJob works on, where it is known."""
    mxnet_success: MxnetSuccess = "scheduler"
    """The role whose success is that of a distributed MxJob."""


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """What belongs to one run: the objects whose names end in the same hash, or were due at the same minute."""

    name: str
    jobs: Sequence[Job]
    job_sets: Sequence[JobSet]
    pods: Sequence[Pod]

    @property
    def is_there(self) -> bool:
        return bool(self.jobs or self.job_sets)


def present_run(seen: Observed) -> ObservedRun:
    """The run whose objects were made last; an empty one where there is none.

    After an edit the objects of the old run stay for a moment beside the new ones: nothing of them counts.
    """
    made: dict[str, str] = {}
    workloads: Sequence[Job | JobSet] = [*seen.jobs, *seen.job_sets]
    for each in workloads:
        made[each.run] = max(made.get(each.run, ""), each.created)
    newest = max(made, key=lambda run: (made[run], run), default="")
    return of(seen, newest)


def of(seen: Observed, run: str) -> ObservedRun:
    """The objects of the run with that name. The cache pods of a dataset belong to none."""
    jobs = sorted((job for job in seen.jobs if job.run == run), key=_by_name)
    job_sets = [each for each in seen.job_sets if each.run == run]
    pods = sorted((pod for pod in seen.pods if pod.job and pod.run == run), key=lambda pod: (pod.index, pod.name))
    return ObservedRun(run, jobs, job_sets, pods)


def _by_name(job: Job) -> tuple[int, str]:
    """Partition 2 before partition 10."""
    return len(job.name), job.name


def newest_time(seen: Observed) -> str:
    """The latest time that any of the objects tells: what is observed now became true then, or later.

    Rules have no clock of their own, so that a wrong one does no harm and two reporters write the same.
    """
    workloads: Sequence[Job | JobSet] = [*seen.jobs, *seen.job_sets]
    others: Sequence[StatefulSet | Pod] = [*seen.sets, *seen.pods]
    times = [seen.resource.created]
    times += [each.created for each in workloads] + [each.created for each in others]
    times += [mark.at for each in workloads for mark in each.conditions.values()]
    times += [sign.at for pod in seen.pods for sign in pod.conditions.values()]
    return max(times)


def earliest(times: Iterable[str]) -> str:
    """The first of those that are known; empty where none is."""
    return min((time for time in times if time), default="")


def latest(times: Iterable[str]) -> str:
    """The last of those that are known; empty where none is."""
    return max((time for time in times if time), default="")
