"""Decision of the await agent, from the known state of the training group. It uses neither clock nor network."""

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
    """The deciding Job `job` failed or was deleted. The deciding Jobs `others` still run, but can no longer help."""

    job: str
    reason: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Doomed:
    """A helper has not listened for too long, so the deciding Jobs that still run must be ended."""

    ports: tuple[int, ...]
    """Ports that were closed for too long."""
    jobs: Mapping[str, JobState]
    """The Jobs to end, by name, with the state that was judged."""


Decision = Succeeded | Failed | Doomed | None


@dataclass(frozen=True, slots=True)
class Group:
    """State of a training group: the deciding Jobs and the ports of the helper."""

    jobs: Mapping[str, JobState]
    """Last known state of each deciding Job, by name."""
    closed: Mapping[int, float]
    """For each port of the helper, the seconds for which it has been closed; 0 while it is open.

    They count from the start of the agent, or from the time at which the port was last open. They stay 0 until the API
    server of Kubernetes has answered about every Job. They also stay 0 while a deciding Job is suspended, because the
    pods of a resumed group start again.
    """
    timeout: float
    """Maximum seconds for which a port may be closed."""

    def saw(self, name: str, job: JobState) -> "Group":
        """Return the group after the API server has reported the deciding Job `name` with the state `job`."""
        return replace(self, jobs={**self.jobs, name: self.jobs[name].after(job)})

    def probed(self, opened: Set[int], elapsed: float) -> "Group":
        """Return the group after a probe that found the ports `opened` open, `elapsed` seconds after the last probe."""
        stands = any(job.phase in _CLOCK_STANDS for job in self.jobs.values())
        closed = {port: 0.0 if stands or port in opened else past + elapsed for port, past in self.closed.items()}
        return replace(self, closed=closed)

    def decide(self) -> Decision:
        """Return the decision; None to go on waiting."""
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
        """Return the running deciding Jobs, by name, that await has not yet made to end."""
        running = {name: job for name, job in self.jobs.items() if job.phase is Phase.RUNNING}
        return {name: job for name, job in running.items() if job.deadline_seconds != END_AT_ONCE}


def group(jobs: Sequence[str], ports: Sequence[int], timeout: float) -> Group:
    """Return the group at the start of the agent: nothing is known about the Jobs, and no port counts as closed."""
    return Group(dict.fromkeys(jobs, UNKNOWN), dict.fromkeys(ports, 0.0), timeout)
