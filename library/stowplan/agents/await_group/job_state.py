"""State of a deciding Job, reduced to the values that the await agent needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.cluster.conditions import because, true_conditions
from stowplan.agents.cluster.following import Deleted, Live, Missing
from stowplan.schema.agents.await_config import HELPER_PREFIX


class Phase(Enum):
    """Phase of a deciding Job."""

    UNKNOWN = "unknown"
    """The API server of Kubernetes has not answered yet."""
    ABSENT = "absent"
    """The Job does not exist yet."""
    SUSPENDED = "suspended"
    RUNNING = "running"
    ENDING = "ending"
    """The outcome is certain, but some pods have not ended."""
    COMPLETE = "complete"
    FAILED = "failed"
    GONE = "gone"
    """The Job was deleted, or replaced by another Job of the same name."""


TERMINAL = frozenset({Phase.COMPLETE, Phase.FAILED, Phase.GONE})


@dataclass(frozen=True, slots=True)
class JobState:
    """State of one Job at one version."""

    phase: Phase
    uid: str = ""
    version: str = ""
    """The Job's `resourceVersion`; empty if the Job is unknown, absent or gone."""
    deadline_seconds: int | None = None
    """The Job's `activeDeadlineSeconds`."""
    reason: str = ""
    """Why the Job ended or will end; empty before that.

    Reason and message of the Job's condition, such as `BackoffLimitExceeded: Job has reached the specified backoff
    limit`.
    """
    start: str = ""
    """Time at which the Job started, or was last resumed (RFC 3339); empty before that."""
    helpers: Mapping[str, str] = field(default_factory=dict)
    """Annotations of the Job that begin with `HELPER_PREFIX`."""

    @property
    def is_over(self) -> bool:
        return self.phase in TERMINAL

    def after(self, news: "JobState") -> "JobState":
        """Return the state that follows this one if the API server now reports `news`.

        A terminal phase never changes. A Job that is missing now, or that has another UID, is `GONE`.
        """
        if self.is_over:
            return self
        if self.uid and news.phase is Phase.ABSENT:
            return JobState(Phase.GONE, self.uid, reason="it was deleted")
        if self.uid and news.uid != self.uid:
            return JobState(Phase.GONE, self.uid, reason="it was deleted and made again")
        return news


UNKNOWN = JobState(Phase.UNKNOWN)
ABSENT = JobState(Phase.ABSENT)


def state_of(news: Live | Deleted | Missing) -> JobState:
    """Return the state of a Job by the last news about it. A deleted Job that had ended before keeps its outcome."""
    if isinstance(news, Missing):
        return ABSENT
    last = read(news.object)
    if isinstance(news, Live) or last.is_over:
        return last
    return JobState(Phase.GONE, last.uid, reason="it was deleted")


def read(job: Manifest) -> JobState:
    """Return the state of the Job with this manifest."""
    metadata, spec = job["metadata"], job.get("spec") or {}
    phase, reason = _phase(job)
    notes: Mapping[str, str] = metadata.get("annotations") or {}
    return JobState(
        phase,
        metadata["uid"],
        metadata["resourceVersion"],
        spec.get("activeDeadlineSeconds"),
        reason,
        str((job.get("status") or {}).get("startTime") or ""),
        {key: value for key, value in notes.items() if key.startswith(HELPER_PREFIX)},
    )


def _phase(job: Manifest) -> tuple[Phase, str]:
    true = true_conditions(job)
    by_condition = {
        "Failed": Phase.FAILED,
        "Complete": Phase.COMPLETE,
        "FailureTarget": Phase.ENDING,
        "SuccessCriteriaMet": Phase.ENDING,
    }
    for condition, phase in by_condition.items():
        if condition in true:
            return phase, because(true[condition])
    return (Phase.SUSPENDED if (job.get("spec") or {}).get("suspend") else Phase.RUNNING), ""
