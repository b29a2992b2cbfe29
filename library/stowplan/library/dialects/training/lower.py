"""Lowering of `Training`: a training group with one role, on the platform's engines."""

from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training import datasets, pod, rules, scheduling
from stowplan.library.dialects.training_group.group_rules import group_findings
from stowplan.library.dialects.training_group.unit import environments, unit
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.frameworks.api import Launch
from stowplan.library.frameworks.neutral import Neutral
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.ir.training import DatasetMount, Role, TrainingGroup
from stowplan.library.manifest import Json, Unit
from stowplan.library.values.names import TrainingNames
from stowplan.schema.diagnostics import has_errors
from stowplan.schema.kinds.native.training import ROLE, Training
from stowplan.schema.meta import RUN_ANNOTATION, SpecId

KIND = "Training"


def lower(model: Training, context: Context) -> Lowered:
    """Return all manifests of a Training (none if it has errors) and all findings."""
    spec = _identity(model, context)
    found = rules.findings(model, context.platform)
    mounts, problems = datasets.resolve(model, spec.namespace, context)
    found += problems
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    template = pod.template(model, context.platform)
    trainer = template["spec"]["containers"][pod.trainer_index(template) or 0]
    launch = rules.launch(model, trainer)
    group = _group(model, context, template, mounts, launch)
    variables = environments(group, context)
    found += group_findings(group, variables, context, size_path=lambda _: ("spec", "numNodes"))
    found += rules.located(datasets.clashes(template, mounts, trainer), template, model)
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    return Lowered(unit(model, group, variables, context), tuple(found))


def _identity(model: Training, context: Context) -> SpecId:
    return SpecId(KIND, context.namespace(model.metadata.namespace), model.metadata.name)


def _group(
    model: Training, context: Context, template: Json, mounts: tuple[DatasetMount, ...], launch: Launch
) -> TrainingGroup:
    spec = _identity(model, context)
    plugin = PLUGINS[model.spec.framework]
    paths = {dataset.name: dataset.mount_path for dataset in model.spec.datasets or ()}
    engine = JOB_ENGINES[context.platform.engines.jobs]
    least = launch.bounds.least if launch.bounds else None
    given = template["spec"].get("restartPolicy")
    restarts = launch.bounds is not None or given in ("Always", "OnFailure")
    role = Role(
        name=ROLE,
        size=launch.nodes,
        template=template,
        decides=True,
        ports=plugin.ports(launch, context.platform),
        restart="OnFailure" if restarts else "Never",
        container=pod.trainer_index(template) or 0,
        host_network=bool(template["spec"].get("hostNetwork")),
        deadline=model.spec.active_deadline_seconds,
    )
    return TrainingGroup(
        origin=context.origin(spec),
        names=TrainingNames(spec.name, KIND.lower()),
        framework=Neutral(plugin.make(launch, context.platform), launch, paths, None if least else engine.attempts),
        roles=(role,),
        mounts=mounts,
        gang=scheduling.request(model.spec)._replace(min_member=least),
        placement=scheduling.placement(model.spec),
        wishes=scheduling.WISHES,
        minimum=least,
        run=model.metadata.annotations.get(RUN_ANNOTATION, ""),
        suspend=model.spec.suspend is True,
    )
