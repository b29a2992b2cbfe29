"""Refused and unanswered requests of the await agent: when it gives up, and what it says."""

from dataclasses import dataclass
from time import monotonic

from stowplan.agents.cluster.answers import Trouble
from stowplan.agents.cluster.patience import Patience
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True, slots=True)
class RequestedRight:
    """What a request was for: `act`, as in "Cannot read a deciding Job", the verbs that it needs, and its Job."""

    act: str
    verbs: str
    job: str = ""
    """Name of the Job; empty for the own pod."""

    @property
    def needs(self) -> str:
        """The right that the request needs, for people."""
        object_ = "jobs.batch of this name" if self.job else "pods"
        return f"{self.verbs} on {object_}, from a Role that is bound to the ServiceAccount of the pod"


def exit_code(trouble: Trouble, patience: Patience, trial: RequestedRight, log: Log) -> int | None:
    """Return the exit code after a request that failed: None to try again, 3 if a right was missing for too long."""
    if patience.lasts(trouble, monotonic()):
        log.warning(f"Cannot {trial.act}: trying again", job=trial.job or None, error=str(trouble))
        return None
    log.error(f"No right to {trial.act}", job=trial.job or None, error=str(trouble), needs=trial.needs)
    return ExitCode.AUTH
