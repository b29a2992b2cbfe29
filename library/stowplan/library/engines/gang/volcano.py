"""Volcano: a PodGroup that its scheduler places as a whole."""

from collections.abc import Mapping

from stowplan.library.engines.gang.api import (
    GangEngine,
    PodMarks,
    followers_wait,
    has_own_scheduler,
    left_alone,
    minimum,
    priority,
    priority_class,
)
from stowplan.library.engines.gang.pod_group import REASONS, min_resources, pod_group
from stowplan.library.engines.kinds import EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.placement import Offer
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Finding
from stowplan.schema.platform.platform import Platform

SCHEDULER = "volcano"
DEFAULT_QUEUE = "default"
"""The queue that every installation of Volcano has."""

POD_GROUP = EngineKind("scheduling.volcano.sh", "v1beta1", "PodGroup", "podgroups", reasons=REASONS)


class Volcano(GangEngine):
    """Gang engine that compiles a PodGroup for Volcano, as paddle-operator did with `--scheduling=volcano`.

    But pods are created at once, and only the scheduler delays them.
    """

    kinds = (POD_GROUP,)
    prioritizes = True
    offers: frozenset[Offer] = frozenset({"queue"})

    def validate(self, group: TrainingGroup, platform: Platform, *, splits: bool) -> list[Finding]:
        """Return findings if a template names a scheduler, and if Volcano would wait for ever.

        Volcano supports every field of a `schedulingPolicy`.
        """
        return left_alone(group) or followers_wait(group)

    def pod(self, group: TrainingGroup, role: Role, site: Site, run: str) -> PodMarks:
        """Return the scheduler, and annotations that Volcano and users of the old operator read.

        They are empty if a template names a scheduler.
        """
        if has_own_scheduler(group):
            return PodMarks()
        annotations = {
            "scheduling.k8s.io/group-name": group.names.group(run),
            "volcano.sh/job-name": group.origin.spec.name,
            "volcano.sh/job-version": "0",
            "volcano.sh/queue-name": _queue(group, site),
            "volcano.sh/task-spec": role.name,
        }
        return PodMarks(annotations=annotations, scheduler=SCHEDULER)

    def manifests(self, group: TrainingGroup, pods: Mapping[str, Json], site: Site, run: str) -> list[Manifest]:
        """Return the PodGroup in a list; an empty list if a template names a scheduler."""
        if has_own_scheduler(group):
            return []
        spec: Json = {
            "minMember": minimum(group),
            "minResources": min_resources(group, pods),
            "queue": _queue(group, site),
        }
        if name := priority_class(group):
            spec["priorityClassName"] = name
        return [pod_group(POD_GROUP.api_version, group, spec, run)]

    def externals(self, group: TrainingGroup, site: Site) -> list[ExternalReference]:
        """Return references to the queue, unless it is Volcano's default one, and to the PriorityClass, if any."""
        if has_own_scheduler(group):
            return []
        queue = _queue(group, site)
        return [*([] if queue == DEFAULT_QUEUE else [ExternalReference("Queue", "", queue)]), *priority(group)]


def _queue(group: TrainingGroup, site: Site) -> str:
    return group.gang.queue or site.platform.engines.queue or DEFAULT_QUEUE


ENGINE = Volcano()
