"""JobSet (`jobset.x-k8s.io/v1alpha2`, 0.8 and later): all roles in one object, which ends as a whole.

A job that starts again after a failure needs 0.10. A JobSet has a fixed size, so the deciding role of an elastic job is
a separate Indexed Job. Await agents end the helpers in the JobSet with that Job.
"""

from collections.abc import Mapping, Sequence

from stowplan.library.builders import gate, indexed_job
from stowplan.library.builders.metadata import Head, metadata
from stowplan.library.builders.pods import await_pod, peers_container, training_pod
from stowplan.library.engines import indexed
from stowplan.library.engines.api import JobEngine
from stowplan.library.engines.gang.api import GangEngine, WorkloadMarks, marked
from stowplan.library.engines.kinds import JOB, EngineKind
from stowplan.library.ir.data import Site
from stowplan.library.ir.placement import Offer
from stowplan.library.ir.reason import Reason
from stowplan.library.ir.training import Environment, Environments, Hosts, Role, TrainingGroup
from stowplan.library.manifest import Json, Manifest, Part
from stowplan.library.values import names
from stowplan.library.values.labels import SKIP_DRY_RUN, SYNC_OPTIONS, role_selector, standard

JOB_SET = EngineKind(
    "jobset.x-k8s.io",
    "v1alpha2",
    "JobSet",
    "jobsets",
    pods=("spec", "replicatedJobs", "*", "template", "spec", "template"),
    starts=True,
    mutable=frozenset({"coordinator", "suspend", "ttlSecondsAfterFinished"}),
    reasons=(
        Reason(
            "jobset",
            "The roles start together, and one that ends for all ends the others. A failure starts none anew unless "
            "the spec asks for restarts; then a lost pod does at no cost, and a final exit code or the deadline does "
            "not.",
            "/spec/failurePolicy/** /spec/successPolicy/** /spec/network/** /spec/startupPolicy/** "
            "/spec/replicatedJobs/*/name /spec/replicatedJobs/*/groupName /spec/replicatedJobs/*/replicas",
        ),
        Reason("closed", "A run that waits is suspended until its gate opens it.", "/spec/suspend"),
    ),
)
EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_NO_RESTART: Json = {"maxRestarts": 0, "restartStrategy": "Recreate"}
_GROUP = "default"
"""Name of the only group of Jobs that the JobSet has; the controller's webhook would fill it in."""


class JobSetEngine(JobEngine):
    """Engine that compiles a JobSet. Its success policy and failure policy end the helpers, which need no await agents.

    Only the helpers of an elastic job need await agents.
    """

    kinds = (JOB, JOB_SET)
    attempts = "jobset.sigs.k8s.io/restart-attempt"
    offers: frozenset[Offer] = frozenset({"exclusive"})

    def hosts(self, group: TrainingGroup, run: str) -> dict[str, Hosts]:
        """Return the DNS names of the pods by role: `<JobSet>-<role>-0-<index>.<Service>`.

        The JobSet controller creates the Service unless it exists. The deciding role of an elastic job has the names of
        an Indexed Job.
        """
        own, after = _name(group, run), f".{_subdomain(group, run)}"
        inside = {role.name: Hosts(f"{own}-{role.name}-0-", after) for role in _members(group)}
        return inside | indexed.hosts(group, _apart(group), run)

    def pods(
        self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site, run: str
    ) -> Mapping[str, Json]:
        """Return the pod templates by role. A helper's container that fails restarts if the job can go on with it."""
        if group.elastic:
            return super().pods(group, environments, gang, site, run)
        hosts = self.hosts(group, run)
        templates = {
            role.name: peers_container.with_peers(
                _template(group, role, run, environments[role.name]), group, role, hosts, site
            )
            for role in group.roles
        }
        return {role.name: marked(templates[role.name], gang.pod(group, role, site, run)) for role in group.roles}

    def run(self, group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site) -> str:
        """Return the hash of the run. It covers the whole spec of the JobSet: no compiled field may change in place."""
        pods = self.pods(group, environments, gang, site, names.BLANK_RUN)
        spec = _spec(group, pods, names.BLANK_RUN) if _members(group) else {}
        apart = [indexed.fixed(group, role, pods[role.name], gang) for role in _apart(group)]
        configurations = await_pod.configurations(group, site) if apart else []
        marks = gang.workload(group, site).hashed
        placed = [group.placement.exclusive] if group.placement.exclusive else []
        return names.content_hash(spec, apart, configurations, marks, group.run, *placed, *gate.mark(group))

    def objects(self, group: TrainingGroup, pods: Mapping[str, Json], gang: GangEngine, site: Site, run: str) -> Part:
        """Return the part with the JobSet and the gang engine's objects; of an elastic job also the separate Job's."""
        marks = gang.workload(group, site)
        job_sets = [_job_set(group, pods, marks, run)] if _members(group) else []
        apart = [indexed.role(group, role, pods[role.name], marks, run) for role in _apart(group)]
        shared = [indexed.service(group, run)] if apart else []
        waiting = await_pod.parts(group, site, run) if apart else ()
        return Part("trainers", (*shared, *gang.manifests(group, pods, site, run), *job_sets), (*waiting, *apart))


def _members(group: TrainingGroup) -> Sequence[Role]:
    """Return the roles in the JobSet: the helpers of an elastic job, or else all roles."""
    return group.helpers if group.elastic else group.roles


def _apart(group: TrainingGroup) -> Sequence[Role]:
    """Return the roles that are Jobs outside the JobSet: the deciding role of an elastic job, or else none."""
    return group.deciders if group.elastic else ()


def _name(group: TrainingGroup, run: str) -> str:
    return group.names.job_set([role.name for role in group.roles], run)


def _subdomain(group: TrainingGroup, run: str) -> str:
    return group.names.service(run) if group.elastic else _name(group, run)


def _template(group: TrainingGroup, role: Role, run: str, variables: Environment) -> Json:
    restart = role.restart if role.decides or role.rules or not group.replaceable else "OnFailure"
    if group.restart:
        restart = "Never"
    return training_pod.template(group, role, variables, run=run, subdomain=_subdomain(group, run), restart=restart)


def _spec(group: TrainingGroup, pods: Mapping[str, Json], run: str) -> Json:
    """Return the spec of the JobSet. `pods` are the pod templates by role.

    It includes the defaults that the JobSet webhook would add, so that Git holds the complete spec.
    """
    members = _members(group)
    success = group.success or [role.name for role in members if role.decides or group.elastic]
    return {
        "failurePolicy": indexed_job.failure_policy(group.restart) if group.restart else dict(_NO_RESTART),
        "network": {
            "enableDNSHostnames": True,
            "publishNotReadyAddresses": True,
            "subdomain": _subdomain(group, run),
        },
        "replicatedJobs": [_replicated(group, role, pods[role.name], run) for role in members],
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "successPolicy": {"operator": "All", "targetReplicatedJobs": list(success)},
    }


def _replicated(group: TrainingGroup, role: Role, template: Json, run: str) -> Json:
    if group.elastic:
        job = indexed.spec(group, role, template)
    elif group.restart:
        job = indexed_job.restarting(role, template, group.restart)
    else:
        job = indexed_job.job_spec(role, template, rules=role.rules, replaceable=group.replaceable)
    metadata = {
        "labels": {**standard(group.origin.spec, role.name), **role_selector(group.origin.spec, run, role.name)}
    }
    return {"groupName": _GROUP, "name": role.name, "replicas": 1, "template": {"metadata": metadata, "spec": job}}


def _job_set(group: TrainingGroup, pods: Mapping[str, Json], marks: WorkloadMarks, run: str) -> Manifest:
    notes = {
        SYNC_OPTIONS: SKIP_DRY_RUN,
        **({EXCLUSIVE: group.placement.exclusive} if group.placement.exclusive else {}),
        **gate.closed(group),
    }
    meta = metadata(JOB_SET.kind, _name(group, run), Head(group.origin, "group", marks.labels, notes))
    spec = {**_spec(group, pods, run), **gate.held(group)}
    body = {"apiVersion": JOB_SET.api_version, "kind": JOB_SET.kind, "metadata": meta, "spec": spec}
    return Manifest(body, stem=group.names.base, run=True)


ENGINE = JobSetEngine()
