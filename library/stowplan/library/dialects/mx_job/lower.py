"""Lowering of `MxJob`: a training group of the framework MXNet, on the platform's engines."""

from typing import Any

from stowplan.library.builders.job import on_exit
from stowplan.library.dialects.mx_job import rules
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training_group import restarts, waiting
from stowplan.library.dialects.training_group.accelerators import equipped
from stowplan.library.dialects.training_group.group_rules import group_findings
from stowplan.library.dialects.training_group.unit import environments, unit
from stowplan.library.frameworks.mxnet import SCHEDULER, Mxnet
from stowplan.library.ir.training import Environments, Role, TrainingGroup
from stowplan.library.manifest import Json, Unit
from stowplan.library.values.names import TrainingNames
from stowplan.schema.diagnostics import FieldPath, Finding, has_errors
from stowplan.schema.kinds.mx_job import CONTAINER, MxJob, MxReplicaSpec
from stowplan.schema.meta import RUN_ANNOTATION, SpecId

KIND = "MxJob"

PORT = 9091
"""Default of the field `PsRootPort`: the port of the scheduler."""

_PERMANENT = on_exit("FailJob", CONTAINER, range(1, 128))
"""Rule of a Job: exit codes below 128 fail the Job at once. They come from the program, higher codes from signals.

The old operator had the same rule. In a distributed job, higher codes fail it too: MXNet readmits no process.
"""

_PORT_NAME = "ps-root-port"
_LEGACY_LABEL = "mxnet.mlkube.io"
_RUN_LABEL = "runtime_id"
_INDEX_LABEL = "task_index"
_APP = {"app": "mxnet-job"}
"""Label by which the old operator looked for the pods of its jobs; a template may give another value."""


def lower(model: MxJob, context: Context) -> Lowered:
    """Return all manifests of an MxJob (none if it has errors) and all findings."""
    spec = context.id(model)
    found = rules.findings(model, context.platform)
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    group = _group(model, spec, context)
    variables = environments(group, context)
    found += _findings(model, group, variables, context)
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    return Lowered(unit(model, group, variables, context), tuple(found))


def _group(model: MxJob, spec: SpecId, context: Context) -> TrainingGroup:
    distributed = model.spec.job_mode == rules.DISTRIBUTED
    return TrainingGroup(
        origin=context.origin(spec),
        names=TrainingNames(spec.name, KIND.lower()),
        framework=Mxnet(distributed),
        roles=tuple(_role(entry, model.spec.runtime_id, context) for _, entry in _entries(model)),
        run=model.metadata.annotations.get(RUN_ANNOTATION, ""),
        success=(context.platform.mxnet.success,) if distributed else (),
        wishes=None,
        restart=restarts.annotated(model.metadata),
        gate=waiting.gate((), context),
    )


def _entries(model: MxJob) -> list[tuple[int, MxReplicaSpec]]:
    """Return (index, entry) pairs of `replicaSpecs`, in the order of the roles: scheduler, server, worker."""
    entries = enumerate(model.spec.replica_specs or ())
    return sorted(entries, key=lambda entry: rules.ROLES.index(rules.role_of(entry[1])))


def _role(entry: MxReplicaSpec, runtime_id: str | None, context: Context) -> Role:
    """Return the role of an entry of `replicaSpecs`. Scheduler and workers are deciders, servers are helpers."""
    name = rules.role_of(entry).lower()
    template = equipped(entry.template or {}, CONTAINER, context.platform.accelerators)
    root = entry.ps_root_port if entry.ps_root_port is not None else PORT
    if name == SCHEDULER:
        _open(template["spec"]["containers"][rules.container_index(template)], root)
    return Role(
        name=name,
        size=1 if entry.replicas is None else entry.replicas,
        template=_labelled(template, entry, runtime_id),
        decides=name != "server",
        ports=(root,) if name == SCHEDULER else (),
        restart="Never",
        container=rules.container_index(template),
        watched=False,
        rules=(_PERMANENT,),
        run_label=_RUN_LABEL,
    )


def _open(container: Json, port: int) -> None:
    """Add `port` to the container's ports, as the old operator did, unless the user has."""
    own = container.get("ports") or []
    if all(each.get("containerPort") != port for each in own):
        container["ports"] = [*own, {"name": _PORT_NAME, "containerPort": port, "protocol": "TCP"}]


def _labelled(template: Json, entry: MxReplicaSpec, runtime_id: str | None) -> Json:
    """Return the template with the labels that the old operator gave pods.

    All pods of a role have one template, so only the pod of a role with one pod gets its number. Kubernetes gives all
    pods the label `batch.kubernetes.io/job-completion-index`.
    """
    metadata: dict[str, Any] = template.get("metadata") or {}
    labels = {**_APP, **(metadata.get("labels") or {}), _LEGACY_LABEL: "", "job_type": rules.role_of(entry)}
    if runtime_id:
        labels[_RUN_LABEL] = runtime_id
    if entry.replicas in (None, 1):
        labels[_INDEX_LABEL] = "0"
    return {**template, "metadata": {**metadata, "labels": labels}}


def _findings(model: MxJob, group: TrainingGroup, variables: Environments, context: Context) -> list[Finding]:
    places: dict[str, FieldPath] = {
        rules.role_of(entry).lower(): ("spec", "replicaSpecs", index) for index, entry in _entries(model)
    }
    found = group_findings(
        group,
        variables,
        context,
        size_path=lambda role: (*places[role.name], "replicas"),
        template_path=lambda role: (*places[role.name], "template"),
    )
    return [*found, *restarts.findings(group, context)]
