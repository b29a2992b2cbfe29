"""JobSet (`jobset.x-k8s.io/v1alpha2`, 0.8 and later): all roles in one object, which ends as a whole."""

from collections.abc import Mapping

from stowplan.library import names
from stowplan.library.builders import indexed_job, training_pod
from stowplan.library.builders.metadata import metadata
from stowplan.library.engines.gang.api import GangEngine, WorkloadMarks, marked
from stowplan.library.ir import Site
from stowplan.library.labels import SYNC_OPTIONS
from stowplan.library.manifest import Json, Manifest
from stowplan.library.training import Hosts, Role, TrainingGroup

API_VERSION = "jobset.x-k8s.io/v1alpha2"
_GROUP = "default"
"""Name of the only group of Jobs that the JobSet has; the controller's webhook would fill it in."""


class JobSetEngine:
    """Helpers are plain containers: the success and the failure policy end them."""

    name = "jobset"

    def hosts(self, group: TrainingGroup, run: str) -> dict[str, Hosts]:
        """`<JobSet>-<role>-0-<index>.<JobSet>`: the controller makes a Service of the JobSet's name."""
        own = _name(group, run)
        return {role.name: Hosts(f"{own}-{role.name}-0-", f".{own}") for role in group.roles}

    def pods(self, group: TrainingGroup, gang: GangEngine, site: Site, run: str) -> Mapping[str, Json]:
        """Templates of all roles. A helper that fails is started again, as a sidecar would be."""
        hosts = self.hosts(group, run)
        templates = {
            role.name: training_pod.template(
                group,
                role,
                hosts,
                run=run,
                subdomain=_name(group, run),
                restart=role.restart if role.decides else "OnFailure",
            )
            for role in group.roles
        }
        return {role.name: marked(templates[role.name], gang.pod(group, role, site, run)) for role in group.roles}

    def run(self, group: TrainingGroup, gang: GangEngine, site: Site) -> str:
        """Nothing of a JobSet but `suspend` may change in place."""
        spec = _spec(group, self.pods(group, gang, site, names.BLANK_RUN), names.BLANK_RUN)
        return names.content_hash(spec, group.run)

    def manifests(self, group: TrainingGroup, gang: GangEngine, site: Site) -> list[Manifest]:
        """The gang's objects and the JobSet."""
        run = self.run(group, gang, site)
        pods = self.pods(group, gang, site, run)
        return [*gang.manifests(group, pods, site, run), _job_set(group, pods, gang.workload(group, site), run)]


def _name(group: TrainingGroup, run: str) -> str:
    return group.names.job_set([(role.name, role.size) for role in group.roles], run)


def _spec(group: TrainingGroup, pods: Mapping[str, Json], run: str) -> Json:
    """What the webhook would fill in is written out, so that Git has what runs."""
    return {
        "failurePolicy": {"maxRestarts": 0, "restartStrategy": "Recreate"},
        "network": {
            "enableDNSHostnames": True,
            "publishNotReadyAddresses": True,
            "subdomain": _name(group, run),
        },
        "replicatedJobs": [_replicated(role, pods[role.name]) for role in group.roles],
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "successPolicy": {
            "operator": "All",
            "targetReplicatedJobs": list(group.success or [role.name for role in group.deciders]),
        },
    }


def _replicated(role: Role, template: Json) -> Json:
    job = indexed_job.job_spec(role, template)
    return {"groupName": _GROUP, "name": role.name, "replicas": 1, "template": {"spec": job}}


def _job_set(group: TrainingGroup, pods: Mapping[str, Json], marks: WorkloadMarks, run: str) -> Manifest:
    meta = metadata(
        "JobSet",
        _name(group, run),
        group.origin,
        "group",
        namespace=group.origin.spec.namespace,
        extra_labels=marks.labels,
        annotations={**marks.annotations, SYNC_OPTIONS: "SkipDryRunOnMissingResource=true"},
    )
    body = {"apiVersion": API_VERSION, "kind": "JobSet", "metadata": meta, "spec": _spec(group, pods, run)}
    return Manifest(body, stem=group.names.base, run=True)
