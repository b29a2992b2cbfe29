"""Jobs of Kubernetes itself: one Indexed Job for each role, tied together by await agents."""

from collections.abc import Mapping

from stowplan.library import labels, names
from stowplan.library.builders import await_pod, indexed_job, training_pod
from stowplan.library.builders.job import MUTABLE
from stowplan.library.builders.metadata import metadata
from stowplan.library.builders.service import pod_names_service
from stowplan.library.engines.gang.api import GangEngine, WorkloadMarks, marked
from stowplan.library.ir import Site
from stowplan.library.manifest import Json, Manifest
from stowplan.library.training import Hosts, Role, TrainingGroup

_ELASTIC = MUTABLE | {"completions"}
"""Fields that may change in place where completions follow parallelism (elastic Indexed Jobs, since 1.31)."""


class CoreEngine:
    """Needs nothing but Kubernetes 1.33: Indexed Jobs and native sidecars."""

    name = "core"

    def hosts(self, group: TrainingGroup, run: str) -> dict[str, Hosts]:
        """`<Job>-<index>.<Service>`: an Indexed Job gives its pods these host names."""
        after = f".{group.names.service(run)}"
        return {role.name: Hosts(f"{group.names.job(role.name, role.size, run)}-", after) for role in group.roles}

    def pods(self, group: TrainingGroup, gang: GangEngine, site: Site, run: str) -> Mapping[str, Json]:
        """Templates of the deciders as they are, of the helpers with await as their main container."""
        return {role.name: self._pod(group, role, gang, site, run) for role in group.roles}

    def run(self, group: TrainingGroup, gang: GangEngine, site: Site) -> str:
        """One hash for all roles, since the host names of one stand in the variables of the others."""
        pods = self.pods(group, gang, site, names.BLANK_RUN)
        mutable = _ELASTIC if group.elastic else MUTABLE
        fixed = [
            [role.name, {key: value for key, value in _spec(role, pods).items() if key not in mutable}]
            for role in group.roles
        ]
        return names.content_hash(fixed, group.run)

    def manifests(self, group: TrainingGroup, gang: GangEngine, site: Site) -> list[Manifest]:
        """Service, await agents' needs, the gang's objects, and the Jobs."""
        run = self.run(group, gang, site)
        pods = self.pods(group, gang, site, run)
        service = pod_names_service(
            group.names.service(run),
            group.origin,
            stem=group.names.base,
            selector=labels.run_selector(group.origin.spec, run),
            ports=[port for role in group.roles for port in role.ports],
        )
        return [
            service,
            *await_pod.manifests(group, site, run),
            *gang.manifests(group, pods, site, run),
            *(_job(group, role, pods, gang.workload(group, site), run) for role in group.roles),
        ]

    def _pod(self, group: TrainingGroup, role: Role, gang: GangEngine, site: Site, run: str) -> Json:
        template = training_pod.template(
            group,
            role,
            self.hosts(group, run),
            run=run,
            subdomain=group.names.service(run),
            restart=role.restart if role.decides else "Never",
        )
        if not role.decides:
            template = await_pod.with_await(template, group, role, site, run)
        return marked(template, gang.pod(group, role, site, run))


def _spec(role: Role, pods: Mapping[str, Json]) -> Json:
    return indexed_job.job_spec(role, pods[role.name], rules=() if role.decides else (await_pod.FAILED,))


def _job(group: TrainingGroup, role: Role, pods: Mapping[str, Json], marks: WorkloadMarks, run: str) -> Manifest:
    meta = metadata(
        "Job",
        group.names.job(role.name, role.size, run),
        group.origin,
        role.name,
        namespace=group.origin.spec.namespace,
        extra_labels=marks.labels,
        annotations=marks.annotations,
    )
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": _spec(role, pods)}
    return Manifest(body, stem=f"{group.names.base}-{role.name}", run=True)
