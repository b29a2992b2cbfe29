"""Kueue: a queue that admits a whole workload. The scheduler of Kubernetes then places the workload.

Kueue sets `suspend` when a Job is created and removes it on admission, so `suspend` is never compiled.
"""

from stowplan.library.engines.gang.api import GangEngine, PodMarks, Shared, WorkloadMarks
from stowplan.library.ir.data import Site
from stowplan.library.ir.placement import Offer
from stowplan.library.ir.training import Role, TrainingGroup
from stowplan.library.manifest import ExternalReference
from stowplan.schema.diagnostics import Anchor, Finding, finding, without_effect
from stowplan.schema.platform.platform import Platform

QUEUE = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
LONGEST = "kueue.x-k8s.io/max-exec-time-seconds"
REQUIRED_TOPOLOGY = "kueue.x-k8s.io/podset-required-topology"
PREFERRED_TOPOLOGY = "kueue.x-k8s.io/podset-preferred-topology"
MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
EQUAL_COMPLETIONS = "kueue.x-k8s.io/job-completions-equal-parallelism"


class Kueue(GangEngine):
    """Gang engine that compiles labels with queue, priority and longest run time, and annotations with the topology.

    For elastic jobs it compiles the smallest number of pods too. This is Kueue's partial admission, which is on by
    default since 0.5; the topology is since 0.14.
    """

    resizes = True
    suspends = True
    prioritizes = True
    offers: frozenset[Offer] = frozenset({"queue", "topology"})

    def validate(self, group: TrainingGroup, platform: Platform, *, splits: bool) -> list[Finding]:
        """Return findings about a job that Kueue would admit never or in parts, and about fields without effect."""
        found = []
        if not (group.gang.queue or platform.engines.queue):
            found.append(_no_queue(group))
        fixed = group.helpers if group.elastic else group.roles
        if splits and len(fixed) > 1:
            message = (
                f"With `engines.jobs: {platform.engines.jobs}` each of the {len(fixed)} roles of fixed size is a Job of"
                " its own, which Kueue would admit one without the other."
            )
            hint = "Set `engines.jobs: jobset` in the platform file: a JobSet is admitted as a whole."
            found.append(finding("SP447", ("spec",), message, hint, anchor=Anchor.KEY))
        return [*found, *_ignored(group), *_ends_suspended(group)]

    def pod(self, group: TrainingGroup, role: Role, site: Site, run: str) -> PodMarks:
        """Return the fields to set in the pods of any role: a PriorityClass, and an annotation with the topology.

        A field that the job does not ask for stays unset. The PriorityClass is here because Kueue orders jobs without a
        WorkloadPriorityClass by the priority of their pods. `role`, `site` and `run`, the hash of the run, have no
        effect.
        """
        topology, notes = group.placement.topology, {}
        if topology:
            notes = {REQUIRED_TOPOLOGY if topology.required else PREFERRED_TOPOLOGY: topology.label}
        return PodMarks(annotations=notes, priority_class=group.gang.priority_class)

    def workload(self, group: TrainingGroup, site: Site) -> WorkloadMarks:
        """Return labels with queue, priority and longest run time.

        For an elastic job return also annotations with the smallest number of pods.
        """
        labels = {QUEUE: _queue(group, site)}
        if group.placement.priority:
            labels[PRIORITY] = group.placement.priority
        if group.placement.longest is not None:
            labels[LONGEST] = str(group.placement.longest)
        if group.minimum is None or group.minimum >= sum(role.size for role in group.deciders):
            return WorkloadMarks(labels)
        return WorkloadMarks(labels, {EQUAL_COMPLETIONS: "true", MIN_PARALLELISM: str(group.minimum)})

    def externals(self, group: TrainingGroup, site: Site) -> list[ExternalReference]:
        """Return references to the LocalQueue, the WorkloadPriorityClass and the PriorityClass of the pods, if any."""
        found = [ExternalReference("LocalQueue", group.origin.spec.namespace, _queue(group, site))]
        for kind, name in (
            ("WorkloadPriorityClass", group.placement.priority),
            ("PriorityClass", group.gang.priority_class),
        ):
            if name:
                found.append(ExternalReference(kind, "", name))
        return found

    def shared_fields(self) -> tuple[Shared, ...]:
        """Return the fields that Kueue writes when it admits a job.

        These are the number of pods, and node selector and tolerations for the cluster nodes that it chose.
        """
        fields = ("nodeSelector", "tolerations")
        job = ("/spec/completions", "/spec/parallelism", *(f"/spec/template/spec/{field}" for field in fields))
        template = ".spec.replicatedJobs[].template.spec.template.spec"
        return (
            Shared("batch", "Job", paths=job),
            Shared("jobset.x-k8s.io", "JobSet", queries=tuple(f"{template}.{field}" for field in fields)),
        )


def _no_queue(group: TrainingGroup) -> Finding:
    if group.wishes:
        message = "The job names no queue, and the platform has none; Kueue would never admit it."
        hint = f"Give `{group.wishes}.queue`, or `engines.queue` in the platform file."
        return finding("SP447", (*group.wishes_path, "queue"), message, hint)
    message = "The platform has no queue, and this kind names none; Kueue would never admit the job."
    return finding("SP447", ("spec",), message, "Give `engines.queue` in the platform file.", anchor=Anchor.KEY)


def _ends_suspended(group: TrainingGroup) -> list[Finding]:
    """Return a finding if the run time is limited: the job has a limit too, and either may be over first.

    Kueue's counts all attempts together, without the time in the queue. When it is over, Kueue deactivates the
    Workload, which suspends the job (pkg/controller/core/workload_controller.go). The job's own fails the job.
    """
    if group.placement.longest is None:
        return []
    message = (
        "When the time is over, either Kubernetes fails the job, or Kueue, which counts it too, suspends it for good:"
        " then the job does not fail, and its phase is Pending."
    )
    hint = "Nothing to do; the next run starts when you change the annotation `stowplan.dev/run`."
    return [finding("SP411", ("spec", "activeDeadlineSeconds"), message, hint)]


def _ignored(group: TrainingGroup) -> list[Finding]:
    given = {"minResources": group.gang.min_resources is not None}
    if not group.elastic:
        given["minAvailable"] = group.gang.min_member is not None
    return [
        without_effect(("spec", "schedulingPolicy", key), f"`{key}` has no effect: Kueue admits the job as a whole.")
        for key in sorted(given)
        if given[key]
    ]


def _queue(group: TrainingGroup, site: Site) -> str:
    return group.gang.queue or site.platform.engines.queue or ""


ENGINE = Kueue()
