"""Lowering of `Training`: a training group with one role, on the platform's engines."""

from collections.abc import Iterator

from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.dialects.training import checkpoints, code, datasets, pod, restart, rules, scheduling
from stowplan.library.dialects.training.outputs import lower as output_jobs
from stowplan.library.dialects.training.outputs import rules as output_rules
from stowplan.library.dialects.training_group import restarts, waiting
from stowplan.library.dialects.training_group.group_rules import group_findings
from stowplan.library.dialects.training_group.unit import environments, unit
from stowplan.library.engines.registry import JOB_ENGINES
from stowplan.library.frameworks.api import Launch
from stowplan.library.frameworks.neutral import Neutral
from stowplan.library.frameworks.registry import PLUGINS
from stowplan.library.ir.training import DatasetMount, Environments, Role, TrainingGroup
from stowplan.library.manifest import Json, Unit
from stowplan.library.values.names import TrainingNames
from stowplan.schema.diagnostics import Finding, has_errors
from stowplan.schema.kinds.native.training import ROLE, Training
from stowplan.schema.meta import RUN_ANNOTATION, SpecId

KIND = "Training"


def lower(model: Training, context: Context) -> Lowered:
    """Return all manifests of a Training (none if it has errors) and all findings."""
    spec = _identity(model, context)
    found = rules.findings(model, context.platform)
    mounts, problems = datasets.resolve(model, spec.namespace, context)
    found += [*problems, *output_rules.of_places(model, spec.namespace, context)]
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    template = pod.template(model, context.platform)
    trainer = template["spec"]["containers"][pod.trainer_index(template) or 0]
    launch = rules.launch(model, trainer)
    with_sidecar = checkpoints.held(template, trainer, model, _by_name(model, mounts, context), context)
    group = _group(model, context, with_sidecar, (*mounts, *checkpoints.mounts(model)), launch)
    variables = environments(group, context)
    found += group_findings(group, variables, context, size_path=lambda _: ("spec", "numNodes"))
    found += restarts.findings(group, context, path=restart.PATH, limit=restart.LIMIT, queued=True)
    found += rules.located(_clashes(model, template, mounts, trainer), template, model)
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    return Lowered(_with_outputs(model, group, _unit(model, group, variables, context), context), tuple(found))


def _clashes(model: Training, template: Json, mounts: tuple[DatasetMount, ...], trainer: Json) -> Iterator[Finding]:
    """Yield findings about names and mount paths that datasets, checkpoints, code and template give twice."""
    yield from datasets.clashes(template, mounts, trainer)
    yield from datasets.clashes(template, checkpoints.mounts(model), trainer, "The checkpoints are")
    yield from checkpoints.taken(template, model)
    yield from code.clashes(model.spec.code, template, trainer)


def _unit(model: Training, group: TrainingGroup, variables: Environments, context: Context) -> Unit:
    given, home = model.spec.code, group.origin.spec.namespace
    more, named = [*checkpoints.manifests(model, group.origin)], [*checkpoints.named(model, home)]
    if given is not None:
        config = code.configuration(given, group.origin, f"{group.names.base}-code", context)
        roles = [
            role._replace(template=code.added(role.template, given, config, role.container, context))
            for role in group.roles
        ]
        group = group._replace(roles=tuple(roles))
        more, named = [*more, config], [*named, *code.externals(given, home)]
    return unit(model, group, variables, context, more=more, named=named)


def _with_outputs(model: Training, group: TrainingGroup, run: Unit, context: Context) -> Unit:
    copies = output_jobs.manifests(model, group, run.manifests, context)
    named = output_jobs.externals(model, group.origin.spec.namespace)
    return Unit(run.spec, (*run.manifests, *copies), tuple(sorted({*run.externals, *named})))


def _by_name(model: Training, mounts: tuple[DatasetMount, ...], context: Context) -> dict[str, DatasetMount]:
    namespace = _identity(model, context).namespace
    there = [each.name for each in model.spec.datasets or () if context.dataset(namespace, each.name)]
    return dict(zip(there, mounts, strict=True))


def _identity(model: Training, context: Context) -> SpecId:
    return SpecId(KIND, context.namespace(model.metadata.namespace), model.metadata.name)


def _group(
    model: Training, context: Context, template: Json, mounts: tuple[DatasetMount, ...], launch: Launch
) -> TrainingGroup:
    spec = _identity(model, context)
    plugin = PLUGINS[model.spec.framework]
    paths = {dataset.name: dataset.mount_path for dataset in model.spec.datasets or ()}
    engine = JOB_ENGINES[context.platform.engines.jobs]
    kept = checkpoints.directory(model, spec.namespace)
    least = launch.bounds.least if launch.bounds else None
    given = template["spec"].get("restartPolicy")
    alone = launch.bounds is not None or given in ("Always", "OnFailure")
    role = Role(
        name=ROLE,
        size=launch.nodes,
        template=template,
        decides=True,
        ports=plugin.ports(launch, context.platform),
        restart="OnFailure" if alone else "Never",
        container=pod.trainer_index(template) or 0,
        host_network=bool(template["spec"].get("hostNetwork")),
        deadline=model.spec.active_deadline_seconds,
    )
    return TrainingGroup(
        origin=context.origin(spec),
        names=TrainingNames(spec.name, KIND.lower()),
        framework=Neutral(
            plugin.make(launch, context.platform),
            launch,
            paths,
            attempts=None if least else engine.attempts,
            checkpoints=kept,
            code=code.path_of(model),
        ),
        roles=(role,),
        mounts=mounts,
        gang=scheduling.request(model.spec)._replace(min_member=least),
        placement=scheduling.placement(model.spec),
        wishes=scheduling.WISHES,
        minimum=least,
        run=model.metadata.annotations.get(RUN_ANNOTATION, ""),
        suspend=model.spec.suspend is True,
        restart=restart.restart(model.spec),
        gate=waiting.gate(mounts, context),
    )
