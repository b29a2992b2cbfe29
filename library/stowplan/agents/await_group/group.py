"""Decision of the await agent, from the known state of the training group. It uses neither clock nor network."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from stowplan.agents.await_group.helper import Crash, Helper, ordinal_name
from stowplan.agents.await_group.job_state import JobState, Phase
from stowplan.schema.agents.await_config import END_AT_ONCE, HELPER_PREFIX

_CLOCK_PAUSES = frozenset({Phase.UNKNOWN, Phase.SUSPENDED})
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
    """The helper is lost, so the deciding Jobs that still run must be ended."""

    reason: str
    jobs: Mapping[str, JobState]
    """The Jobs to end, by name, with the state that was judged."""


@dataclass(frozen=True, slots=True)
class Serves:
    """The helper has begun to serve, which an annotation of a deciding Job must show to a pod that replaces it."""

    job: str
    key: str
    value: str


Decision = Succeeded | Failed | Doomed | Serves | None


@dataclass(frozen=True, slots=True)
class Group:
    """State of a training group: the deciding Jobs and the helper."""

    jobs: Mapping[str, JobState]
    """Last known state of each deciding Job, by name."""
    helper: Helper

    def saw(self, name: str, job: JobState) -> "Group":
        """Return the group after the API server has reported the deciding Job `name` with the state `job`."""
        return replace(self, jobs={**self.jobs, name: self.jobs[name].after(job)})

    def probed(self, opened: Set[int], elapsed: float, now: str) -> "Group":
        """Return the group after a probe that found the ports `opened` open, `elapsed` seconds after the last probe.

        `now` is the time of the probe (RFC 3339). The clock pauses until the API server of Kubernetes has answered
        about every Job. It also pauses while a deciding Job is suspended, because the pods of a resumed group start
        again.
        """
        paused = any(job.phase in _CLOCK_PAUSES for job in self.jobs.values())
        return replace(self, helper=self.helper.probed(opened, elapsed, now, paused=paused))

    def crashed(self, crash: Crash | None) -> "Group":
        """Return the group after a look at the helper's container, which found this last crash, or None."""
        return replace(self, helper=replace(self.helper, crash=crash))

    def decide(self) -> Decision:
        """Return what to do in the present state of the group, the first that fits; None to go on waiting.

        `Failed` if a deciding Job failed or was deleted; `Succeeded` if all are complete; `Doomed` if the helper is
        lost while some of them run; `Serves` if the helper has begun to serve, which the first Job does not show yet.
        All but `Serves` end the wait.
        """
        for name, job in self.jobs.items():
            if job.phase in _FAILED:
                return Failed(name, job.reason, tuple(self._running()))
        if all(job.phase is Phase.COMPLETE for job in self.jobs.values()):
            return Succeeded()
        return self._doom() or self._begun()

    def _doom(self) -> Doomed | None:
        jobs = self._running()
        if not jobs:
            return None
        _, noted = self._noted()
        reason = self.helper.replaced(noted) or self.helper.fault(max(job.start for job in jobs.values()))
        return Doomed(reason, jobs) if reason else None

    def _begun(self) -> Serves | None:
        """Return what to note on the first Job while it runs; None if it is noted, or the helper has not begun."""
        (name, first), (key, noted) = next(iter(self.jobs.items())), self._noted()
        if first.phase is not Phase.RUNNING or not first.start or not self.helper.serves or noted == self.helper.pod:
            return None
        return Serves(name, key, f"{first.start} {self.helper.pod}")

    def _noted(self) -> tuple[str, str]:
        """Return the key of the annotation about this helper, and the pod that it names; empty for none.

        What was noted before the Job was suspended and resumed does not count.
        """
        first = next(iter(self.jobs.values()))
        key = HELPER_PREFIX + ordinal_name(self.helper.pod)
        start, _, pod = first.helpers.get(key, "").partition(" ")
        return key, pod if start == first.start else ""

    def _running(self) -> dict[str, JobState]:
        """Return the running deciding Jobs, by name, that await has not yet made to end."""
        running = {name: job for name, job in self.jobs.items() if job.phase is Phase.RUNNING}
        return {name: job for name, job in running.items() if job.deadline_seconds != END_AT_ONCE}
