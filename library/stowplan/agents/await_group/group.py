"""The decision of await from the known state of the group, without clock and network."""

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
    """A deciding Job failed or was deleted. `others` still run, without use."""

    job: str
    reason: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Doomed:
    """A helper does not listen: these Jobs must end, each at the version that was judged."""

    ports: tuple[int, ...]
    jobs: Mapping[str, JobState]


Decision = Succeeded | Failed | Doomed | None


@dataclass(frozen=True, slots=True)
class Group:
    """State of a training group: the last known state of each deciding Job, and the closed time of each helper port.

    The seconds of a port count from the start of the agent, or from when the port was last open. They stay 0 until the
    API server of Kubernetes has reported every Job, and while a deciding Job is suspended, because the pods of a
    resumed group start again.
    """

    jobs: Mapping[str, JobState]
    closed: Mapping[int, float]
    timeout: float

    def saw(self, name: str, job: JobState) -> "Group":
        """Return the group after a change of one deciding Job."""
        return replace(self, jobs={**self.jobs, name: self.jobs[name].after(job)})

    def probed(self, opened: Set[int], elapsed: float) -> "Group":
        """Return the group after a probe of all ports, `elapsed` seconds after the previous one."""
        stands = any(job.phase in _CLOCK_STANDS for job in self.jobs.values())
        closed = {port: 0.0 if stands or port in opened else past + elapsed for port, past in self.closed.items()}
        return replace(self, closed=closed)

    def decide(self) -> Decision:
        """Return the next step; None to go on waiting."""
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
        """Return the running deciding Jobs that were not asked to end."""
        running = {name: job for name, job in self.jobs.items() if job.phase is Phase.RUNNING}
        return {name: job for name, job in running.items() if job.deadline_seconds != END_AT_ONCE}


def group(jobs: Sequence[str], ports: Sequence[int], timeout: float) -> Group:
    """Return the group before anything is known."""
    return Group(dict.fromkeys(jobs, UNKNOWN), dict.fromkeys(ports, 0.0), timeout)
