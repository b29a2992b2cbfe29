"""The decision of await, without clock and network: what is known of the group, and what follows from it."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from stowplan.agents.await_group.job_state import UNKNOWN, JobState, Phase
from stowplan.schema.agents.await_config import END_AT_ONCE

_CLOCK_STANDS = frozenset({Phase.UNKNOWN, Phase.SUSPENDED})
_FAILED = frozenset({Phase.FAILED, Phase.GONE})


@dataclass(frozen=True, slots=True)
class Succeeded:
    """All deciding Jobs are complete."""


@dataclass(frozen=True, slots=True)
class Failed:
    """One deciding Job failed or went away. `others` still run, for nothing."""

    job: str
    reason: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Doomed:
    """A helper stays away: these Jobs have to end, each at the version that was judged."""

    ports: tuple[int, ...]
    jobs: Mapping[str, JobState]


Decision = Succeeded | Failed | Doomed | None


@dataclass(frozen=True, slots=True)
class Group:
    """What is known of the deciding Jobs, by name, and how long each port of the helpers has been closed, in seconds.

    A port counts from the start or from when it was last open. It does not count while a deciding Job is suspended, and
    begins anew after that, since a group that is resumed starts once more; nor before the server has told of every Job.
    """

    jobs: Mapping[str, JobState]
    closed: Mapping[int, float]
    timeout: float

    def saw(self, name: str, job: JobState) -> "Group":
        """After news of one deciding Job."""
        return replace(self, jobs={**self.jobs, name: self.jobs[name].after(job)})

    def probed(self, opened: Set[int], elapsed: float) -> "Group":
        """After a look at all ports, `elapsed` seconds after the one before."""
        stands = any(job.phase in _CLOCK_STANDS for job in self.jobs.values())
        closed = {port: 0.0 if stands or port in opened else past + elapsed for port, past in self.closed.items()}
        return replace(self, closed=closed)

    def decide(self) -> Decision:
        """What is to be done now; None is to wait on."""
        for name, job in self.jobs.items():
            if job.phase in _FAILED:
                return Failed(name, job.reason, tuple(self._running()))
        if all(job.phase is Phase.COMPLETE for job in self.jobs.values()):
            return Succeeded()
        return self._doom()

    def _doom(self) -> Doomed | None:
        ports = tuple(sorted(port for port, seconds in self.closed.items() if seconds > self.timeout))
        jobs = self._running()
        return Doomed(ports, jobs) if ports and jobs else None

    def _running(self) -> dict[str, JobState]:
        """The deciding Jobs that run, and were not asked to end."""
        running = {name: job for name, job in self.jobs.items() if job.phase is Phase.RUNNING}
        return {name: job for name, job in running.items() if job.deadline_seconds != END_AT_ONCE}


def group(jobs: Sequence[str], ports: Sequence[int], timeout: float) -> Group:
    """The group before anything is known."""
    return Group(dict.fromkeys(jobs, UNKNOWN), dict.fromkeys(ports, 0.0), timeout)
