"""Lowering of `DataCube`: a copy between a claim and a remote side, once or on a schedule."""

from collections.abc import Iterator

from stowplan.library.builders import transfer
from stowplan.library.builders.custom_resource import resource
from stowplan.library.builders.volume import claim_from_template
from stowplan.library.dialects.data_cube import certificates, config, environment, pod, rules
from stowplan.library.dialects.data_cube.cube import Cube, view
from stowplan.library.dialects.shared import run_order, schedules, task_runs
from stowplan.library.dialects.shared.access import access
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.ir.data import Placement, Transfer
from stowplan.library.manifest import ExternalReference, Json, Part, Unit
from stowplan.library.values.names import DataCubeNames
from stowplan.schema.diagnostics import Finding, has_errors
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.meta import RUN_ANNOTATION


def lower(model: DataCube, context: Context) -> Lowered:
    """Return all manifests of a DataCube (none if it has errors) and all findings."""
    found = certificates.names(model) or rules.sides(model)
    if found:
        spec = context.id(model)
        return Lowered(Unit(spec, ()), tuple(found))
    cube, found = view(model, context)
    found += _findings(cube, context)
    if has_errors(found):
        return Lowered(Unit(cube.id, ()), tuple(found))
    found += [*cube.kind.defaults(cube), *pod.defaults(cube)]
    unit = Unit(cube.id, tuple(_parts(cube, context)), _externals(cube))
    return Lowered(unit, tuple(found))


def _findings(cube: Cube, context: Context) -> list[Finding]:
    spec, bundled = cube.model.spec, cube.reference.ca_bundle is not None
    allowed = context.platform.policy.executor_env
    return [
        *rules.findings(cube),
        *environment.findings(cube.variables, replaced=cube.replaced, certificates=bundled, allowed=allowed),
        *pod.findings(cube),
        *config.part_size_findings(cube),
        *schedules.findings(spec.schedule, spec.time_zone, cube.model.metadata.annotations),
        *task_runs.long_names(DataCubeNames(cube.id.name).job, spec.schedule),
        *run_order.annotation_findings(cube.model.metadata.annotations),
    ]


def _transfer(cube: Cube, context: Context) -> Transfer:
    executor, spec = cube.executor, cube.id
    names = DataCubeNames(spec.name)
    return Transfer(
        origin=context.origin(spec),
        component="transfer",
        stem=names.job,
        configuration_stem=names.base,
        account=names.base,
        agent=cube.kind.agent,
        config=config.of_cube(cube, context),
        claim=cube.claim.name or "",
        env=_environment(cube),
        resources=cube.resources,
        backoff_limit=cube.given.backoff_limit or 0,
        attempt_seconds=cube.given.active_deadline_seconds,
        total_seconds=pod.total_deadline(cube),
        placement=Placement(tolerations=tuple(executor.tolerations or ()), node_selector=executor.node_selector),
        security=executor.security_context or {},
        certificates=certificates.volume(cube),
        read_only=bool(cube.claim.read_only),
        schedule=cube.model.spec.schedule,
        time_zone=cube.model.spec.time_zone,
        run_after=run_order.specs(run_order.of_annotation(cube.model.metadata.annotations, spec.namespace)),
    )


def _environment(cube: Cube) -> tuple[Json, ...]:
    replaced = {**config.from_flags(cube), **cube.replaced}
    return (*certificates.variables(cube), *environment.emitted(cube.variables, replaced))


def _parts(cube: Cube, context: Context) -> Iterator[Part]:
    model, moved = cube.model, _transfer(cube, context)
    names, origin, site = DataCubeNames(cube.id.name), moved.origin, context.site
    yield resource(model, origin)
    if cube.template:
        yield Part("claim", (claim_from_template(moved.claim, origin, cube.template),))
    yield access(names.base, origin, site, namespaces=[cube.id.namespace], after=moved.run_after)
    yield Part("task", tuple(transfer.manifests(moved, site, model.metadata.annotations.get(RUN_ANNOTATION, ""))))


def _externals(cube: Cube) -> tuple[ExternalReference, ...]:
    wanted = environment.externals(cube.variables, cube.id.namespace)
    wanted.update(certificates.externals(cube))
    if not cube.template:
        wanted.add(ExternalReference("PersistentVolumeClaim", cube.id.namespace, cube.claim.name or ""))
    return tuple(sorted(wanted))
