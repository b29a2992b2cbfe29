"""Interface of a gang engine: a scheduler or queue that starts all pods of a training job or none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from stowplan.library.engines.kinds import EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.placement import Offer
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Anchor, Finding, finding, without_effect
from stowplan.schema.platform.platform import Platform

_NONE: Mapping[str, str] = {}


class PodMarks(NamedTuple):
    """Fields that the gang engine sets in the pods of a role. A user's scheduler and priority class take precedence."""

    labels: Mapping[str, str] = _NONE
    annotations: Mapping[str, str] = _NONE
    scheduler: str | None = None
    priority_class: str | None = None


@dataclass(frozen=True, slots=True)
class WorkloadMarks:
    """Metadata that the gang engine sets on the Jobs or the JobSet; of Jobs only the deciders' get the annotations."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def hashed(self) -> Json:
        """The labels and annotations as a part of the run's hash; an empty dictionary if there are none."""
        marks = {"annotations": dict(self.annotations), "labels": dict(self.labels)}
        return {key: value for key, value in marks.items() if value}


@dataclass(frozen=True, slots=True)
class Shared:
    """Fields that the gang engine writes in the cluster, in objects that come from Git. Argo CD must ignore them.

    `group` and `kind` select the objects. `paths` and `queries` name fields: `paths` are JSON pointers, `queries` are
    jq paths.
    """

    group: str
    kind: str
    paths: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()


class GangEngine:
    """Turns a job's `GangRequest` into fields of its pods and Jobs, and into further objects: by default into nothing.

    An engine that `resizes` sets the size of an elastic Job itself; nobody else may change the size while the Job runs.
    An engine that `suspends` delays Jobs by `spec.suspend`. An engine that `prioritizes` uses the PriorityClass of the
    job. `offers` are the wishes of a `Placement`, and the queue, that the engine fulfils. In all methods, `run` is the
    hash of the run, `BLANK_RUN` while that is computed.

    An example is `stowplan.library.engines.gang.toy`::

        '''A toy scheduler that reads a label.'''

        from stowplan.library.engines.gang.api import GangEngine, PodMarks


        class ToyGang(GangEngine):
            def pod(self, group, role, site, run):
                return PodMarks(labels={"toy.example.com/gang": group.names.group(run)}, scheduler="toy")


        ENGINE = ToyGang()
    """

    kinds: tuple[EngineKind, ...] = ()
    """The kinds of objects that the engine creates in addition to the Jobs, such as PodGroup."""
    resizes: bool = False
    suspends: bool = False
    prioritizes: bool = False
    offers: frozenset[Offer] = frozenset()

    def validate(self, group: TrainingGroup, platform: Platform, *, splits: bool) -> list[Finding]:
        """Return findings about the job's request, at paths below the field `wishes` of the spec.

        `splits` is true if the job engine creates a separate object for every role of a fixed size.
        """
        return []

    def pod(self, group: TrainingGroup, role: Role, site: Site, run: str) -> PodMarks:
        """Return the fields to set in a role's pods. They become part of the run's hash."""
        return PodMarks()

    def workload(self, group: TrainingGroup, site: Site) -> WorkloadMarks:
        """Return the metadata to set on the Jobs or the JobSet.

        It becomes part of the run's hash, since it only acts when the run starts.
        """
        return WorkloadMarks()

    def manifests(self, group: TrainingGroup, pods: Mapping[str, Json], site: Site, run: str) -> list[Manifest]:
        """Return the objects that the engine adds, such as a PodGroup. `pods` are the finished templates by role."""
        return []

    def externals(self, group: TrainingGroup, site: Site) -> list[ExternalReference]:
        """Return references to the objects that must exist in the cluster already, such as a queue."""
        return []

    def shared_fields(self) -> tuple[Shared, ...]:
        """Return the fields of Jobs and JobSets that the engine writes in the cluster."""
        return ()


def marked(template: Json, marks: PodMarks) -> Json:
    """Return the pod template with the fields of `marks` set. A scheduler and priority class of its own remain."""
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
    """Return whether the template of any role names a scheduler. Gang engines then ignore the whole job.

    The old operator did the same.
    """
    return any(role.template["spec"].get("schedulerName") for role in group.roles)


def left_alone(group: TrainingGroup) -> list[Finding]:
    """Return a finding if the job has wishes without effect, because a template names a scheduler.

    Else return an empty list.
    """
    if not has_own_scheduler(group) or (group.gang.unset and not group.placement.priority):
        return []
    message = "The policy has no effect: a template names a scheduler itself, which then is that of the whole job."
    return [without_effect(group.wishes_path, message, "Remove the policy, or `schedulerName` from the templates.")]


def priority(group: TrainingGroup) -> list[ExternalReference]:
    """Return a reference to the PriorityClass that the job asks for, in a list; an empty list if it asks for none."""
    name = priority_class(group)
    return [ExternalReference("PriorityClass", "", name)] if name else []


def priority_class(group: TrainingGroup) -> str | None:
    """Return the name of the PriorityClass that the job asks for; None if it asks for none.

    Not for Kueue, to which the priority of a `Placement` is a WorkloadPriorityClass.
    """
    return group.gang.priority_class or group.placement.priority


def followers_wait(group: TrainingGroup) -> list[Finding]:
    """Return a finding if the pods of the job have nodes of their own, for schedulers that wait for all of its pods.

    JobSet creates the first pod alone. It creates the others when this pod has a node (its pod webhook, since 0.2).
    """
    if not group.placement.exclusive:
        return []
    message = (
        "The scheduler waits for all pods of the job, and JobSet creates the others only once the first one has a node,"
        " so the job would wait for ever."
    )
    hint = "Remove `exclusive`, or set `engines.gang: kueue` or `none` in the platform file."
    return [finding("SP447", (*group.wishes_path, "exclusive"), message, hint, anchor=Anchor.KEY)]


def minimum(group: TrainingGroup) -> int:
    """Return the number of pods that must start together: the user's `minAvailable`, else the number of all pods."""
    return group.gang.min_member or group.size
