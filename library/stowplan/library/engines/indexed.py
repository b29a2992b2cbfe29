"""Roles as separate Indexed Jobs, for all engines."""

from collections.abc import Sequence

from stowplan.library.builders import indexed_job
from stowplan.library.builders.job import MUTABLE
from stowplan.library.builders.metadata import metadata
from stowplan.library.builders.pods import await_pod, training_pod
from stowplan.library.builders.service import pod_names_service
from stowplan.library.engines.gang.api import GangEngine, WorkloadMarks, marked
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Environments, Hosts, Role, TrainingGroup
from stowplan.library.manifest import Json, Manifest
from stowplan.library.values import labels

_SIZE = frozenset({"completions", "parallelism"})
"""Fields that may change in place together (elastic Indexed Jobs, since 1.31)."""


def hosts(group: TrainingGroup, roles: Sequence[Role], run: str) -> dict[str, Hosts]:
    """`<Job>-<index>.<Service>`, by role: an Indexed Job gives its pods these host names."""
    after = f".{group.names.service(run)}"
    return {role.name: Hosts(f"{group.names.job(role.name, run)}-", after) for role in roles}


def pods(group: TrainingGroup, environments: Environments, gang: GangEngine, site: Site, run: str) -> dict[str, Json]:
    """The templates of all roles: unchanged for a deciding role, with await as the main container for a helper."""
    templates = {}
    subdomain = group.names.service(run)
    for role in group.roles:
        restart = role.restart if role.decides else "Never"
        own = environments[role.name]
        template = training_pod.template(group, role, own, run=run, subdomain=subdomain, restart=restart)
        if not role.decides:
            template = await_pod.with_await(template, group, role, site, run)
        templates[role.name] = marked(template, gang.pod(group, role, site, run))
    return templates


def spec(role: Role, template: Json) -> Json:
    """The spec of a role's Job. Exit codes of a helper have no effect: its sidecars restart after any code."""
    return indexed_job.job_spec(role, template, rules=role.rules if role.decides else (await_pod.FAILED,))


def fixed(group: TrainingGroup, role: Role, template: Json, gang: GangEngine) -> list[object]:
    """The fields of a role's Job that cannot change in place, for the hash of the run."""
    mutable = MUTABLE
    if group.elastic and role.decides:
        mutable = MUTABLE - _SIZE if gang.resizes else MUTABLE | _SIZE
    return [role.name, {key: value for key, value in spec(role, template).items() if key not in mutable}]


def job(group: TrainingGroup, role: Role, template: Json, marks: WorkloadMarks, run: str) -> Manifest:
    """The Job of a role."""
    meta = metadata(
        "Job",
        group.names.job(role.name, run),
        group.origin,
        role.name,
        namespace=group.origin.spec.namespace,
        extra_labels=marks.labels,
        annotations=marks.annotations if role.decides else None,
    )
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec(role, template)}
    return Manifest(body, stem=f"{group.names.base}-{role.name}", run=True)


def service(group: TrainingGroup, run: str) -> Manifest:
    """The Service of all pods of a run."""
    return pod_names_service(
        group.names.service(run),
        group.origin,
        stem=group.names.base,
        selector=labels.run_selector(group.origin.spec, run),
        ports=[port for role in group.roles for port in role.ports],
    )
