"""Changes that the await agent makes to the deciding Jobs."""

import asyncio
from dataclasses import dataclass, field
from time import monotonic

from stowplan.agents.await_group.job_state import JobState
from stowplan.agents.await_group.settings import AwaitSettings
from stowplan.agents.cluster.answers import Manifest, Refused, Trouble, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.patience import Patience
from stowplan.agents.cluster.place import job
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.await_config import END_AT_ONCE, ENDED_BECAUSE
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.field_managers import AWAIT

_ENDING: Manifest = {"spec": {"activeDeadlineSeconds": END_AT_ONCE}}
_TRIES, _PAUSE = 5, 1.0
"""Number of requests to end a Job if the server does not answer, and the seconds between them."""


@dataclass
class Right:
    """A right that some requests need, such as to read one Job, and when the agent gives up without it."""

    act: str
    """What it allows, as in "Cannot read a deciding Job"."""
    verbs: str
    """Verbs of the RBAC rule, as in "get and watch"."""
    log: Log
    job: str = ""
    """Name of the Job; empty for the own pod."""
    patience: Patience = field(default_factory=Patience)

    def answered(self, trouble: Trouble | None) -> int | None:
        """Return the exit code after an answer: None to go on, 3 if the right was missing for too long.

        `trouble` is None for an allowed request.
        """
        lasts = self.patience.lasts(trouble, monotonic())
        if trouble is None:
            return None
        if lasts:
            self.log.warning(f"Cannot {self.act}: trying again", job=self.job or None, error=str(trouble))
            return None
        object_ = "jobs.batch of this name" if self.job else "pods"
        needs = f"{self.verbs} on {object_}, from a Role that is bound to the ServiceAccount of the pod"
        self.log.error(f"No right to {self.act}", job=self.job or None, error=str(trouble), needs=needs)
        return ExitCode.AUTH


@dataclass
class Changes:
    """The changes of one agent: ends of Jobs, and annotations."""

    settings: AwaitSettings
    client: Client
    log: Log
    rights: dict[str, Right] = field(default_factory=dict)
    """The right to change each Job."""
    doomed: set[str] = field(default_factory=set)
    """Jobs whose forced failure has been logged."""

    async def fail(self, name: str, state: JobState, reason: str) -> int | None:
        """Make one Job fail by a deadline, because the helper is lost for the reason `reason`.

        The request holds the version of `state`, so a Job that has changed meanwhile (for example, was suspended) is
        not touched. Returns an exit code if the right to change the Job was missing for too long. None otherwise, also
        if the request failed: call this again as long as `Group.decide` names the Job.
        """
        if name not in self.doomed:
            # Only once for each Job, since that may need many requests.
            self.doomed.add(name)
            self.log.error("The helper is lost: the deciding Job is made to fail", job=name, reason=reason)
        metadata = {"annotations": {ENDED_BECAUSE: reason}, "resourceVersion": state.version}
        return await self._change(name, {"metadata": metadata, **_ENDING})

    async def note(self, name: str, key: str, value: str) -> int | None:
        """Set the annotation `key` of one Job to `value`.

        Returns an exit code if the right to change the Job was missing for too long. None otherwise, also if the
        request failed: call this again as long as `Group.decide` asks for it.
        """
        return await self._change(name, {"metadata": {"annotations": {key: value}}})

    async def _change(self, name: str, changes: Manifest) -> int | None:
        right = self.rights.setdefault(name, Right("change a deciding Job", "patch", self.log, name))
        match await self.client.merge_patch(job(self.settings.namespace, name), changes, AWAIT):
            case Refused(status=409) | Refused(status=404):
                self.log.info("The Job has changed meanwhile: looking again", job=name)
            case Refused() | Unreachable() as trouble:
                return right.answered(trouble)
            case dict():
                return right.answered(None)
        return None

    async def end(self, name: str) -> None:
        """End the Job `name` of a failed group by a deadline, whatever its version. A failure is only logged."""
        for _ in range(_TRIES):
            answer = await self.client.merge_patch(job(self.settings.namespace, name), _ENDING, AWAIT)
            match answer:
                case Unreachable():
                    await asyncio.sleep(_PAUSE)
                case Refused():
                    self.log.error("Cannot end a deciding Job of the failed group", job=name, error=str(answer))
                    return
                case dict():
                    self.log.info("Made a deciding Job of the failed group end", job=name)
                    return
        self.log.error("The server cannot be reached, so a deciding Job of the failed group runs on", job=name)
