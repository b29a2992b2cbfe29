"""Lowering of `PaddleJob`: a training group of the framework Paddle, on the platform's engines."""

import hashlib
from collections.abc import Iterator

from stowplan.library.builders.config_map import plain_config_map
from stowplan.library.builders.metadata import Head
from stowplan.library.dialects.paddle_job import rules
from stowplan.library.dialects.sample_set import mount as dataset_mount
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training_group import cache_placement, restarts, waiting
from stowplan.library.dialects.training_group.group_rules import group_findings
from stowplan.library.dialects.training_group.unit import environments, unit
from stowplan.library.frameworks.paddle_job import PORTS, Elastic, Paddle
from stowplan.library.ir.training import DatasetMount, Environments, GangRequest, Role, TrainingGroup
from stowplan.library.manifest import Json, Part, Unit
from stowplan.library.values.names import SUBDOMAIN_LIMIT, TrainingNames, shorten
from stowplan.schema.diagnostics import Finding, finding, has_errors
from stowplan.schema.kinds.paddle_job import HOST_PORT_ANNOTATION, PaddleJob, PaddleRole
from stowplan.schema.meta import RUN_ANNOTATION, SpecId
from stowplan.schema.platform.engines import HostPorts

KIND = "PaddleJob"

_SIZE = "np"
_LARGEST_PORT = 65535


def lower(model: PaddleJob, context: Context) -> Lowered:
    """Return all manifests of a PaddleJob (none if it has errors) and all findings."""
    spec = context.id(model)
    found = rules.findings(model, context.platform)
    mounts, problems = dataset_mount.resolve(model.spec.sample_set_ref, model.metadata, spec.namespace, context)
    found += problems
    ports, problems = ports_of(model, context)
    found += problems
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    group = _group(model, context, mounts, ports)
    variables = environments(group, context)
    found += _group_findings(model, group, variables, context)
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    return Lowered(unit(model, group, variables, context, more=_size(group)), tuple(found))


def ports_of(model: PaddleJob, context: Context) -> tuple[dict[str, range], list[Finding]]:
    """Return the ports of the roles with pods, by role, and findings about them.

    On the host network each role has a separate block. Otherwise all roles have the same ports.
    """
    present = [name for name, _ in _present(model)]
    base = context.platform.paddle.base_port
    if model.spec.intranet != "Host" or not present:
        return dict.fromkeys(present, range(base, base + PORTS)), []
    given = model.metadata.annotations.get(HOST_PORT_ANNOTATION)
    length = PORTS * len(present)
    block, found = _block(context.id(model), length, given, context.platform.paddle.host_ports)
    return {name: block[PORTS * i : PORTS * (i + 1)] for i, name in enumerate(present)}, found


def _block(spec: SpecId, length: int, given: str | None, ports: HostPorts) -> tuple[range, list[Finding]]:
    """Return the ports of one job on the host network, and findings if there are none.

    The old operator took ports from a counter in its memory. Here they depend only on the job's namespace and name, so
    that no other job can change them. Overlapping blocks of two jobs are reported (SP310). One of the jobs must then
    choose its ports by annotation.

    They come from `given`, the value of the job's annotation, or from a hash of the job's name if `given` is None.
    `length` is their number, `ports` the platform's range for the hash.
    """
    if given is not None:
        return _chosen_block(given, length)
    slots = (ports.last - ports.first + 1) // length
    if slots < 1:
        message = f"The platform's range {ports.first}-{ports.last} is too small for {length} ports."
        return range(0), [finding("SP439", ("spec", "intranet"), message, "Widen `paddle.hostPorts`.")]
    digest = hashlib.sha256(f"{spec.namespace}/{spec.name}".encode()).digest()
    first = ports.first + length * (int.from_bytes(digest[:8]) % slots)
    return range(first, first + length), []


def _chosen_block(given: str, length: int) -> tuple[range, list[Finding]]:
    first = int(given) if given.isascii() and given.isdecimal() and len(given) <= len(str(_LARGEST_PORT)) else 0
    last = _LARGEST_PORT - length + 1
    if 1024 <= first <= last:
        return range(first, first + length), []
    message = f'Found "{given}"; the job needs {length} ports from a number between 1024 and {last} on.'
    path = ("metadata", "annotations", HOST_PORT_ANNOTATION)
    return range(0), [finding("SP439", path, message, "Give the first port, or remove the annotation.")]


def _present(model: PaddleJob) -> Iterator[tuple[str, PaddleRole]]:
    """Return (name, role) pairs of the roles that have pods."""
    return ((name, role) for name, role in rules.roles(model) if role.replicas > 0)


def _group(
    model: PaddleJob, context: Context, mounts: tuple[DatasetMount, ...], ports: dict[str, range]
) -> TrainingGroup:
    spec = context.id(model)
    names = TrainingNames(spec.name, KIND.lower())
    present = dict(_present(model))
    decides = rules.deciding_role(model)
    elastic = rules.is_elastic(model)
    roles = tuple(
        Role(
            name=name,
            size=role.replicas,
            template=_marked(role.template or {}, name),
            decides=name == decides,
            ports=(ports[name].start,),
            host_network=model.spec.intranet == "Host",
            restart=rules.restart(model, name),
        )
        for name, role in present.items()
    )
    policy = model.spec.scheduling_policy
    minimum = policy.min_available if policy else None
    return TrainingGroup(
        origin=context.origin(spec),
        names=names,
        framework=Paddle(gloo=model.spec.with_gloo or 0, elastic=_elastic(spec, names, context) if elastic else None),
        roles=roles,
        mounts=mounts,
        gang=_gang(model),
        minimum=(minimum or sum(role.size for role in roles)) if elastic else None,
        run=model.metadata.annotations.get(RUN_ANNOTATION, ""),
        restart=restarts.annotated(model.metadata),
        gate=waiting.gate(mounts, context),
    )


def _marked(template: Json, role: str) -> Json:
    """Return the template with the label and the annotation that the old operator gave the pods of a role."""
    metadata = template.get("metadata") or {}
    own_labels = {**(metadata.get("labels") or {}), "paddle-res-type": role}
    notes = {**(metadata.get("annotations") or {}), "paddle-resource": role}
    return {**template, "metadata": {**metadata, "labels": own_labels, "annotations": notes}}


def _gang(model: PaddleJob) -> GangRequest:
    policy = model.spec.scheduling_policy
    if policy is None:
        return GangRequest()
    return GangRequest(policy.min_available, policy.min_resources, policy.queue, policy.priority_class)


def _elastic(spec: SpecId, names: TrainingNames, context: Context) -> Elastic:
    paddle = context.platform.paddle
    size = (_size_name(names), _SIZE)
    modern = paddle.elastic_launcher == "modern"
    return Elastic(f"{spec.namespace}-{spec.name}", tuple(paddle.elastic_servers), size, modern)


def _size_name(names: TrainingNames) -> str:
    return shorten(f"{names.base}-size", SUBDOMAIN_LIMIT)


def _group_findings(model: PaddleJob, group: TrainingGroup, variables: Environments, context: Context) -> list[Finding]:
    found = group_findings(
        group,
        variables,
        context,
        size_path=lambda role: ("spec", role.name, "replicas"),
        template_path=lambda role: ("spec", role.name, "template"),
    )
    found += restarts.findings(group, context)
    for role in group.roles:
        found += dataset_mount.clashes(role.template, group.mounts, ("spec", role.name, "template", "spec"))
    reference = model.spec.sample_set_ref
    dataset = context.sample_set(group.origin.spec.namespace, (reference and reference.name) or "")
    cached = any(mount.near for mount in group.mounts)
    if dataset and cached and cache_placement.is_required(model.metadata, context):
        found += dataset_mount.crowded(group.roles, dataset)
    return found


def _size(group: TrainingGroup) -> tuple[Part, ...]:
    """Return the part `size`: a ConfigMap with the number of workers of an elastic job; no part for other jobs.

    The number is not in the pod template, so that a new number does not change the pods.
    """
    if group.minimum is None:
        return ()
    size = str(group.size) if group.minimum == group.size else f"{group.minimum}:{group.size}"
    return (Part("size", (plain_config_map(_size_name(group.names), Head(group.origin, "size"), {_SIZE: size}),)),)
