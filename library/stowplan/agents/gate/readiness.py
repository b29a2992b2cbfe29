"""Whether what a run waits for is ready, by the status of its custom resource. It uses neither clock nor network."""

from dataclasses import dataclass

from stowplan.agents.cluster.answers import Manifest
from stowplan.agents.cluster.conditions import condition
from stowplan.schema.agents.gate_config import GateWait, digest
from stowplan.schema.kinds.table import TASK_FIELDS

SETTLED = 60.0
"""Seconds for which a spec must be ready by another run than the compiled one, before that run counts too.

The Jobs of an unchanged spec stay those of an older compiler, whose names end in other hashes.
"""

REPLACED = 3600.0
"""The same if the spec in the cluster is older than the run, and not the compiled one.

Argo CD tries for half an hour to apply that.
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the custom resource says."""

    ready: bool
    text: str
    """What is missing, or what is ready, as a sentence without a full stop."""
    after: float = 0.0
    """Seconds for which this verdict must last before it counts as ready."""


def look(wait: GateWait, resource: Manifest | None, born: str) -> Verdict:
    """Return the verdict whether the custom resource is ready; None stands for one that does not exist.

    `born` is the time at which the closed run was created (RFC 3339), empty before that. A spec that was written later
    is an edit of the compiled one, or that one itself.
    """
    name = f"{wait.kind} {wait.name}"
    if resource is None:
        return Verdict(ready=False, text=f"{name} does not exist")
    status: Manifest = resource.get("status") or {}
    if status.get("observedGeneration") != resource["metadata"].get("generation"):
        return Verdict(ready=False, text=f"{name} has no report on its newest spec")
    found = condition(resource, wait.condition)
    if found.get("status") != "True":
        why = found.get("message") or found.get("reason") or "it has no report yet"
        return Verdict(ready=False, text=f"{name} is not {wait.condition}: {why}")
    if wait.revision and status.get("revision") != wait.revision:
        held = status.get("revision") or "an unknown revision"
        return Verdict(ready=False, text=f"{name} is {wait.condition}, but holds {held}, not {wait.revision}")
    # Tasks name a Job, which ends in the hash of its run.
    run = str(status.get(TASK_FIELDS.get(wait.kind, ("run",))[0]) or "").rpartition("-")[2]
    if run == wait.run or not wait.spec:
        return Verdict(ready=True, text=f"{name} is {wait.condition}")
    text = f"{name} is {wait.condition}, but by run {run or 'unknown'}, not {wait.run or 'unknown'}"
    current = digest(resource) == wait.spec or bool(born and _written(resource) > born)
    return Verdict(ready=False, text=text, after=SETTLED if current else REPLACED)


def _written(resource: Manifest) -> str:
    """Return the time of the last change of the spec (RFC 3339); empty if it is not known."""
    times = (
        str(each.get("time") or "")
        for each in resource["metadata"].get("managedFields") or ()
        if "f:spec" in (each.get("fieldsV1") or {})
    )
    return max(times, default="")


@dataclass(slots=True)
class Readiness:
    """The views of one custom resource so far. Times are in seconds, of any monotonic clock."""

    wait: GateWait
    verdict: Verdict
    since: float
    """Time of the first of the equal views that came last."""

    def saw(self, resource: Manifest | None, born: str, now: float) -> bool:
        """Record the present version of the custom resource. Return whether the verdict of it has changed.

        `resource` is None if it does not exist. `born` is the time at which the closed run was created (RFC 3339),
        empty before that. `now` is the present time in seconds.
        """
        verdict = look(self.wait, resource, born)
        changed = verdict != self.verdict
        if changed:
            self.verdict, self.since = verdict, now
        return changed

    def is_ready(self, now: float) -> bool:
        """Return whether the run need not wait for this custom resource any more.

        `now` is the present time in seconds of the monotonic clock that `saw` got its times from. A resource that is
        ready only by another run or spec counts after `verdict.after` seconds without a change.
        """
        return self.verdict.ready or (self.verdict.after > 0 and now - self.since >= self.verdict.after)


def unseen(wait: GateWait) -> Readiness:
    """Return the readiness of a custom resource before the API server has answered."""
    return Readiness(wait, Verdict(ready=False, text=f"{wait.kind} {wait.name} is not known yet"), 0.0)
