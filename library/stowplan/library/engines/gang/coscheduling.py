"""The coscheduling plug-in of kubernetes-sigs/scheduler-plugins."""

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
from stowplan.library.engines.gang.pod_group import REASONS, given_resources, pod_group
from stowplan.library.engines.kinds import EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import ExternalReference, Json, Manifest
from stowplan.schema.diagnostics import Finding, without_effect
from stowplan.schema.platform.platform import Platform

POD_GROUP = EngineKind("scheduling.x-k8s.io", "v1alpha1", "PodGroup", "podgroups", reasons=REASONS)
_POD_GROUP = "scheduling.x-k8s.io/pod-group"
_TIMEOUT = 60
"""Seconds that placed pods wait for the rest of their group; the value of Kubeflow Trainer."""


class Coscheduling(GangEngine):
    """Gang engine that compiles a PodGroup for the coscheduling plug-in, without a queue."""

    kinds = (POD_GROUP,)
    prioritizes = True

    def validate(self, group: TrainingGroup, platform: Platform, *, splits: bool) -> list[Finding]:
        """Return findings about a policy without effect, since the plug-in has no queues, and if it waits for ever."""
        if has_own_scheduler(group) or not group.gang.queue:
            return left_alone(group) or followers_wait(group)
        message = "The coscheduling plug-in has no queues, so `queue` has no effect."
        path = (*group.wishes_path, "queue")
        return [without_effect(path, message)]

    def pod(self, group: TrainingGroup, role: Role, site: Site, run: str) -> PodMarks:
        """Return the label by which the plug-in finds the pods of a PodGroup, with scheduler and priority class.

        They are empty if a template names a scheduler.
        """
        if has_own_scheduler(group):
            return PodMarks()
        return PodMarks(
            labels={_POD_GROUP: group.names.group(run)},
            scheduler=site.platform.engines.scheduler,
            priority_class=priority_class(group),
        )

    def manifests(self, group: TrainingGroup, pods: Mapping[str, Json], site: Site, run: str) -> list[Manifest]:
        """Return the PodGroup in a list; an empty list if a template names a scheduler.

        It has `minResources` only if the user gives them: the plug-in looks again at a group that they kept out only
        when a pod is created, or after five minutes, but not when other pods end (`EventsToRegister` in its
        coscheduling.go). Also the resources of all pods are not needed where fewer pods may start.
        """
        if has_own_scheduler(group):
            return []
        spec = {
            "minMember": minimum(group),
            "minResources": given_resources(group),
            "scheduleTimeoutSeconds": _TIMEOUT,
        }
        return [pod_group(POD_GROUP.api_version, group, spec, run)]

    def externals(self, group: TrainingGroup, site: Site) -> list[ExternalReference]:
        """Return a reference to the PriorityClass of the pods, if any."""
        return [] if has_own_scheduler(group) else priority(group)


ENGINE = Coscheduling()
