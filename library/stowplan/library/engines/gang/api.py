"""Interface of a gang engine: a scheduler or queue that starts all pods of a training job or none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from stowplan.library.engines.kinds import EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Anchor, Finding, finding
from stowplan.schema.platform.platform import Platform

_NONE: Mapping[str, str] = {}


class PodMarks(NamedTuple):
    """Fields that the engine sets in the pods of a role. A user's scheduler and priority class take precedence."""

    labels: Mapping[str, str] = _NONE
    annotations: Mapping[str, str] = _NONE
    scheduler: str | None = None
    priority_class: str | None = None


@dataclass(frozen=True, slots=True)
class WorkloadMarks:
    """Metadata that the engine sets on the Jobs or the JobSet; annotations only on the deciding Job."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def hashed(self) -> Json:
        """The marks as part of a run's hash; empty without marks."""
        marks = {"annotations": dict(self.annotations), "labels": dict(self.labels)}
        return {key: value for key, value in marks.items() if value}


@dataclass(frozen=True, slots=True)
class Shared:
    """Fields that the engine writes in objects from Git. Argo CD must ignore them.

    `paths` are JSON pointers, `queries` are jq paths.
    """

    group: str
    kind: str
    paths: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


class GangEngine(Protocol):
    """Turns a job's requests to its scheduler into marks and objects.

    An engine that `resizes` sets the size of an elastic Job itself, and refuses other changes of it while the Job runs.
    An engine that `suspends` delays Jobs by `spec.suspend`. An engine that `prioritizes` uses the PriorityClass of the
    job.
    """

    name: str
    kinds: tuple[EngineKind, ...]
    """The kinds of objects that the engine creates in addition to the Jobs, such as PodGroup."""
    resizes: bool
    suspends: bool
    prioritizes: bool

    def validate(self, group: TrainingGroup, platform: Platform, *, splits: bool) -> list[Finding]:
        """Findings about the request, at paths below `spec.schedulingPolicy` of its document.

        `splits` is true if the job engine creates a separate object for every role of a fixed size.
        """
        ...

    def pod(self, group: TrainingGroup, role: Role, site: Site, run: str) -> PodMarks:
        """Marks of a role's pods; they become part of the run's hash."""
        ...

    def workload(self, group: TrainingGroup, site: Site) -> WorkloadMarks:
        """Marks of the Jobs or the JobSet; they become part of the run's hash, since they act when it starts."""
        ...

    def manifests(self, group: TrainingGroup, pods: Mapping[str, Json], site: Site, run: str) -> list[Manifest]:
        """Objects that the engine adds. `pods` are the finished pod templates, by role."""
        ...

    def externals(self, group: TrainingGroup, site: Site) -> list[ExternalReference]:
        """Objects that must exist in the cluster, such as a queue."""
        ...

    def shared_fields(self) -> tuple[Shared, ...]:
        """Fields of Jobs and JobSets that the engine writes."""
        ...


def marked(template: Json, marks: PodMarks) -> Json:
    """The pod template with the marks in it."""
    if not any(marks):
        return template
    metadata = dict(template["metadata"])
    spec = dict(template["spec"])
    metadata["labels"] = {**metadata["labels"], **marks.labels}
    if notes := {**metadata.get("annotations", {}), **marks.annotations}:
        metadata["annotations"] = notes
    for key, value in (("schedulerName", marks.scheduler), ("priorityClassName", marks.priority_class)):
        if value and not spec.get(key):
            spec[key] = value
    return {"metadata": metadata, "spec": spec}


def has_own_scheduler(group: TrainingGroup) -> bool:
    """Whether a role names a scheduler itself. Engines then ignore the whole job, as the old operator did."""
    return any(role.template["spec"].get("schedulerName") for role in group.roles)


def left_alone(group: TrainingGroup) -> list[Finding]:
    """Finding about a policy that has no effect, because a different scheduler places the job."""
    if group.gang.unset or not has_own_scheduler(group):
        return []
    message = "The policy has no effect: a template names a scheduler itself, which then is that of the whole job."
    hint = "Remove the policy, or `schedulerName` from the templates."
    return [finding("SP406", ("spec", "schedulingPolicy"), message, hint, anchor=Anchor.KEY)]


def priority(group: TrainingGroup) -> list[ExternalReference]:
    """The PriorityClass that the job asks for."""
    name = group.gang.priority_class
    return [ExternalReference("PriorityClass", "", name)] if name else []


def minimum(group: TrainingGroup) -> int:
    """Pods that must start together."""
    return group.gang.min_member or group.size
