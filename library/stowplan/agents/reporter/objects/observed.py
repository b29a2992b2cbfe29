"""All objects that belong to one custom resource, and the objects of its present run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stowplan.agents.reporter.objects.pods import Pod
from stowplan.agents.reporter.objects.resources import Resource
from stowplan.agents.reporter.objects.workloads import Job, JobSet, StatefulSet
from stowplan.schema.agents.reporter_config import MxnetSuccess


@dataclass(frozen=True, slots=True)
class Observed:
    """A custom resource with all objects whose labels name it."""

    resource: Resource
    jobs: Sequence[Job] = ()
    job_sets: Sequence[JobSet] = ()
    sets: Sequence[StatefulSet] = ()
    pods: Sequence[Pod] = ()
    partitions: int | None = None
    """Number of partitions of a SampleJob's SampleSet; None if unknown."""
    failures: Sequence[str] = ()
    """What the closed run of a training job waits for and has failed, a sentence for each."""
    mxnet_success: MxnetSuccess = "scheduler"
    """The role that decides the success of a distributed MxJob."""


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """The objects of one run of a custom resource."""

    name: str
    """Ending that the names of the run's Jobs share: a hash, or the scheduled minute for Jobs of a CronJob."""
    jobs: Sequence[Job]
    job_sets: Sequence[JobSet]
    pods: Sequence[Pod]

    @property
    def is_there(self) -> bool:
        return bool(self.jobs or self.job_sets)


def present_run(seen: Observed) -> ObservedRun:
    """Return the run whose Jobs or JobSets were created last; a run with an empty name if there are none.

    After a change of the spec, the objects of the old run may exist for a moment; they are ignored.
    """
    made: dict[str, str] = {}
    workloads: Sequence[Job | JobSet] = [*seen.jobs, *seen.job_sets]
    for each in workloads:
        made[each.run] = max(made.get(each.run, ""), each.created)
    newest = max(made, key=lambda run: (made[run], run), default="")
    return of(seen, newest)


def of(seen: Observed, run: str) -> ObservedRun:
    """Return the objects of the run with the name `run`. The cache pods of a dataset belong to no run."""
    # In names that contain a partition's number, partition 2 comes before partition 10.
    jobs = sorted((job for job in seen.jobs if job.run == run), key=lambda job: (len(job.name), job.name))
    job_sets = [each for each in seen.job_sets if each.run == run]
    pods = sorted((pod for pod in seen.pods if pod.job and pod.run == run), key=lambda pod: (pod.index, pod.name))
    return ObservedRun(run, jobs, job_sets, pods)


def newest_time(seen: Observed) -> str:
    """Return the latest time in any of the objects (RFC 3339), as the time of a change that has no time of its own.

    No clock is read. So a wrong clock does no harm, and two reporters write the same status.
    """
    workloads: Sequence[Job | JobSet] = [*seen.jobs, *seen.job_sets]
    others: Sequence[StatefulSet | Pod] = [*seen.sets, *seen.pods]
    times = [seen.resource.created]
    times += [each.created for each in workloads] + [each.created for each in others]
    times += [mark.at for each in workloads for mark in each.conditions.values()]
    times += [sign.at for pod in seen.pods for sign in pod.conditions.values()]
    return max(times)


def earliest(times: Iterable[str]) -> str:
    """Return the earliest of these times (RFC 3339) that is not empty; empty if all are."""
    return min((time for time in times if time), default="")


def latest(times: Iterable[str]) -> str:
    """Return the latest of these times (RFC 3339) that is not empty; empty if all are."""
    return max((time for time in times if time), default="")
