"""Roles as separate Indexed Jobs, for all engines."""

from collections.abc import Mapping, Sequence

from stowplan.library.builders import gate, indexed_job
from stowplan.library.builders.job import MUTABLE
from stowplan.library.builders.metadata import Head, manifest
from stowplan.library.builders.pods import await_pod, peers_container, training_pod
from stowplan.library.engines.gang.api import GangEngine, WorkloadMarks, marked
from stowplan.library.ir.data import Site
from stowplan.library.ir.training import Environments, Hosts, Role, TrainingGroup
from stowplan.library.manifest import Json, Manifest, Part
from stowplan.library.values import labels

_SIZE = frozenset({"completions", "parallelism"})
"""Fields of an Indexed Job that may change in place if both get the same value (Kubernetes since 1.31)."""


def hosts(group: TrainingGroup, roles: Sequence[Role], run: str) -> dict[str, Hosts]:
    """Return the DNS names of the pods of `roles`, by role: `<Job>-<index>.<Service>`.

    An Indexed Job gives its pods the host name `<Job>-<index>`. `run` is the hash of the run.
    """
    after = f".{group.names.service(run)}"
    return {role.name: Hosts(f"{group.names.job(role.name, run)}-", after) for role in roles}


def pods(
    group: TrainingGroup,
    environments: Environments,
    gang: GangEngine,
    site: Site,
    run: str,
    *,
    peers: Mapping[str, Hosts],
) -> dict[str, Json]:
    """Return the finished pod templates of all roles, by role. In a helper's, await is the main container.

    `environments` are the framework's variables by role, `peers` the DNS names of all pods by role, and `run` is the
    hash of the run.
    """
    templates = {}
    subdomain = group.names.service(run)
    for role in group.roles:
        restart = role.restart if role.decides else "Never"
        own = environments[role.name]
        template = training_pod.template(group, role, own, run=run, subdomain=subdomain, restart=restart)
        template = peers_container.with_peers(template, group, role, peers, site)
        if not role.decides:
            template = await_pod.with_await(template, group, role, site, run)
        templates[role.name] = marked(template, gang.pod(group, role, site, run))
    return templates


def spec(group: TrainingGroup, role: Role, template: Json) -> Json:
    """Return the spec of a role's Job. Exit codes of a helper's own containers have no effect: they always restart.

    A helper's pod is always replaced: await in the new pod ends the group if it cannot go on with another helper.
    """
    rules = role.rules if role.decides else (await_pod.FAILED,)
    return indexed_job.job_spec(role, template, rules=rules, replaceable=group.replaceable or not role.decides)


def fixed(group: TrainingGroup, role: Role, template: Json, gang: GangEngine) -> list[object]:
    """Return the role's name and the fields of its Job's spec that cannot change in place, for the hash of the run."""
    mutable = MUTABLE
    if group.elastic and role.decides:
        mutable = MUTABLE - _SIZE if gang.resizes else MUTABLE | _SIZE
    return [role.name, {key: value for key, value in spec(group, role, template).items() if key not in mutable}]


def role(group: TrainingGroup, role: Role, template: Json, marks: WorkloadMarks, run: str) -> Part:
    """Return the part of a role: its Job. `template` is its finished pod template, `run` the hash of the run."""
    notes = {**(marks.annotations if role.decides else {}), **gate.closed(group)}
    name, head = group.names.job(role.name, run), Head(group.origin, role.name, marks.labels, notes)
    own = {**spec(group, role, template), **gate.held(group)}
    job = manifest("Job", name, head, stem=f"{group.names.base}-{role.name}", run=True, spec=own)
    return Part(role.name, (job,))


def service(group: TrainingGroup, run: str) -> Manifest:
    """Return the Service that gives all pods of a run their DNS names. `run` is the hash of the run."""
    ports = sorted({port for role in group.roles for port in role.ports})
    named = [{"name": f"p-{port}", "port": port, "protocol": "TCP"} for port in ports]
    spec = {
        "clusterIP": "None",
        **({"ports": named} if named else {}),
        "publishNotReadyAddresses": True,
        "selector": labels.run_selector(group.origin.spec, run),
    }
    head = Head(group.origin, "rendezvous")
    return manifest("Service", group.names.service(run), head, stem=group.names.base, run=True, spec=spec)
