"""Lowering of `TrainingJob`: a training group of the framework paddle-legacy, on the platform's engines."""

from collections.abc import Iterator

from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training_group import restarts, waiting
from stowplan.library.dialects.training_group.group_rules import group_findings
from stowplan.library.dialects.training_group.unit import environments, unit
from stowplan.library.dialects.training_job import rules
from stowplan.library.dialects.training_job.commands import MASTER_PORT
from stowplan.library.dialects.training_job.etcd import ETCD_PORT
from stowplan.library.dialects.training_job.pods import framework, template
from stowplan.library.dialects.training_job.topology import Shape, shape
from stowplan.library.ir.training import GangRequest, Role, TrainingGroup
from stowplan.library.manifest import ExternalReference, Unit
from stowplan.library.values.names import TrainingNames
from stowplan.schema.diagnostics import has_errors
from stowplan.schema.kinds.training_job import TrainingJob
from stowplan.schema.meta import RUN_ANNOTATION, SpecId

KIND = "TrainingJob"

_RESTARTS = 5
"""Restarts of a parameter server before its job fails: the old operator's `-restartlimit`."""


def lower(model: TrainingJob, context: Context) -> Lowered:
    """Return all manifests of a TrainingJob (none if it has errors) and all findings."""
    spec = context.id(model)
    found = rules.findings(model, context.platform)
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    group = _group(model, spec, context)
    variables = environments(group, context)
    found += group_findings(group, variables, context, size_path=lambda role: ("spec", role.name, "min-instance"))
    found += restarts.findings(group, context, limit="annotations.walltime")
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    own = rules.own_pod_group(model, context.platform)
    named = [ExternalReference("PodGroup", spec.namespace, own)] if own else []
    return Lowered(unit(model, group, variables, context, named=named), tuple(found))


def _group(model: TrainingJob, spec: SpecId, context: Context) -> TrainingGroup:
    layout = shape(model, context.platform)
    return TrainingGroup(
        origin=context.origin(spec),
        names=TrainingNames(spec.name, KIND.lower()),
        framework=framework(model),
        roles=tuple(_roles(model, layout, context)),
        gang=GangRequest(priority_class=rules.priority_class(model, context.platform)),
        minimum=layout.minimum,
        wishes=None,
        run=model.metadata.annotations.get(RUN_ANNOTATION, ""),
        restart=restarts.annotated(model.metadata),
        gate=waiting.gate((), context),
    )


def _roles(model: TrainingJob, layout: Shape, context: Context) -> Iterator[Role]:
    """Yield the roles with pods in the order in which the old operator created them, helpers first."""
    platform = context.platform
    if layout.master:
        ports = (MASTER_PORT, ETCD_PORT) if layout.own_etcd else (MASTER_PORT,)
        yield Role(
            name="master",
            size=1,
            template=template(model, "master", layout, platform),
            decides=False,
            ports=ports,
            host_network="master" in layout.on_host,
            restarts=_RESTARTS,
        )
    if layout.servers:
        yield Role(
            name="pserver",
            size=layout.servers,
            template=template(model, "pserver", layout, platform),
            decides=False,
            ports=tuple(layout.server_ports),
            watched=not _chooses_port(model),
            host_network="pserver" in layout.on_host,
            restarts=_RESTARTS,
        )
    annotations = model.spec.annotations
    yield Role(
        name="trainer",
        size=layout.trainers,
        template=template(model, "trainer", layout, platform),
        decides=True,
        ports=tuple(layout.trainer_ports),
        host_network="trainer" in layout.on_host,
        tolerant=bool(model.spec.fault_tolerant),
        deadline=(annotations.walltime if annotations else None) or None,
    )


def _chooses_port(model: TrainingJob) -> bool:
    """Return whether a user's variable chooses the port of the parameter servers. Await then cannot watch this port."""
    return "PADDLE_INIT_PORT" in ((model.spec.pserver.envs if model.spec.pserver else None) or {})
