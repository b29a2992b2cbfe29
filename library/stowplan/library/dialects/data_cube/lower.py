"""`DataCube` lowered: a copy between a claim and a remote side, once or at the times of a schedule."""

from collections.abc import Iterator

from stowplan.library.builders import transfer
from stowplan.library.builders.custom_resource import custom_resource
from stowplan.library.builders.volume import claim_from_template
from stowplan.library.dialects.data_cube import (
    arguments as data_cube_arguments,
)
from stowplan.library.dialects.data_cube import (
    claim as data_cube_claim,
)
from stowplan.library.dialects.data_cube import (
    config,
    environment,
    git_url,
    pod,
    rules,
    shapes,
)
from stowplan.library.dialects.data_cube import (
    options as data_cube_options,
)
from stowplan.library.dialects.data_cube.arguments import Arguments
from stowplan.library.dialects.data_cube.environment import Variable
from stowplan.library.dialects.data_cube.pod import Amounts
from stowplan.library.dialects.data_cube.rules import options_of, remote
from stowplan.library.dialects.shared import access, schedules
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.ir.data import Origin, Placement, Transfer
from stowplan.library.manifest import ExternalReference, Json, Manifest, Unit
from stowplan.library.values.names import CRON_JOB_LIMIT, HASH_LENGTH, LABEL_LIMIT, DataCubeNames
from stowplan.schema.agents.transfer_config import CA_DIRECTORY, CA_ENV, CA_FILE, option_env
from stowplan.schema.diagnostics import Finding, finding, has_errors
from stowplan.schema.kinds.data_cube import DataCube
from stowplan.schema.meta import RUN_ANNOTATION, SpecId

KIND = "DataCube"
GROUP = "tensorstack.dev"
PLURAL = "datacubes"


def lower(model: DataCube, context: Context) -> Lowered:
    """All objects of a DataCube; none when it cannot work."""
    spec = SpecId(KIND, context.namespace(model.metadata.namespace), model.metadata.name)
    found = shapes.findings(model) or rules.sides(model)
    if found:
        return Lowered(Unit(spec, ()), tuple(found))
    arguments, found = data_cube_arguments.understood(remote(model).type, options_of(model).extra_args or [])
    variables, amounts = environment.of_cube(model), pod.resources(model, context)
    found += _findings(model, arguments, variables, amounts, context)
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    found += [*rules.defaults(model), *pod.defaults(model)]
    moved = _transfer(model, spec, context, arguments, variables, amounts=amounts)
    unit = Unit(spec, tuple(_manifests(model, moved, context)), _externals(model, spec, variables))
    return Lowered(unit, tuple(found))


def _findings(
    model: DataCube, arguments: Arguments, variables: list[Variable], amounts: Amounts, context: Context
) -> list[Finding]:
    certificates, allowed = remote(model).ca_bundle is not None, context.platform.policy.executor_env
    return [
        *rules.findings(model, arguments, context.namespace(model.metadata.namespace)),
        *environment.findings(variables, certificates=certificates, allowed=allowed),
        *pod.findings(model, amounts),
        *config.part_size_findings(model, amounts, arguments),
        *schedules.findings(model.spec.schedule, model.spec.time_zone, model.metadata.annotations),
        *_long_name(model),
    ]


def _long_name(model: DataCube) -> list[Finding]:
    stem = DataCubeNames(model.metadata.name).job
    limit = CRON_JOB_LIMIT if model.spec.schedule is not None else LABEL_LIMIT - HASH_LENGTH - 1
    if len(stem) <= limit:
        return []
    message = f"{stem} is too long for the name of a Job, so a hash takes the place of its end."
    return [finding("SP505", ("metadata", "name"), message, "Shorten the name if you want to recognise its Jobs.")]


def _transfer(
    model: DataCube,
    spec: SpecId,
    context: Context,
    arguments: Arguments,
    variables: list[Variable],
    *,
    amounts: Amounts,
) -> Transfer:
    executor, options = pod.executor_of(model), options_of(model)
    claim = data_cube_claim.of_cube(model)
    names = DataCubeNames(spec.name)
    return Transfer(
        origin=Origin(spec, context.sources.get((spec.kind, spec.namespace, spec.name), "")),
        component="transfer",
        stem=names.job,
        configuration_stem=names.base,
        account=names.base,
        agent="git" if remote(model).type == "git" else "transfer",
        config=config.of_cube(model, spec, context, arguments, amounts),
        claim=claim.name or "",
        env=_environment(model, arguments, variables),
        resources=amounts,
        backoff_limit=options.backoff_limit or 0,
        attempt_seconds=options.active_deadline_seconds,
        total_seconds=pod.total_deadline(model),
        placement=Placement(tolerations=tuple(executor.tolerations or ()), node_selector=executor.node_selector),
        security=executor.security_context or {},
        certificates=_certificates(model),
        read_only=bool(claim.read_only),
        schedule=model.spec.schedule,
        time_zone=model.spec.time_zone,
    )


def _environment(model: DataCube, arguments: Arguments, variables: list[Variable]) -> tuple[Json, ...]:
    replaced = config.from_flags(model, arguments)
    url = data_cube_options.literal(remote(model), "url")
    parts = git_url.split(url) if url else None
    if isinstance(parts, git_url.GitUrl):
        replaced[option_env("url")] = parts.url
    trusted = {"value": f"{CA_DIRECTORY}/{CA_FILE}"}
    bundle = tuple({"name": name, **trusted} for name in CA_ENV) if remote(model).ca_bundle else ()
    return (*bundle, *environment.emitted(variables, replaced))


def _certificates(model: DataCube) -> Json | None:
    """The volume's source; the key becomes the file `CA_FILE`."""
    bundle = remote(model).ca_bundle
    if bundle is None:
        return None
    config_map, secret = bundle.config_map_key_ref, bundle.secret_key_ref
    if secret:
        return {"secret": {"secretName": secret["name"], "items": [{"key": secret["key"], "path": CA_FILE}]}}
    reference = config_map or {}
    return {"configMap": {"name": reference["name"], "items": [{"key": reference["key"], "path": CA_FILE}]}}


def _manifests(model: DataCube, moved: Transfer, context: Context) -> Iterator[Manifest]:
    names = DataCubeNames(model.metadata.name)
    origin, site = moved.origin, context.site
    namespaces = [origin.spec.namespace]
    yield custom_resource(model, origin)
    if template := data_cube_claim.made(model):
        yield claim_from_template(moved.claim, origin, template)
    yield from access.manifests(names.base, origin, site, plural=PLURAL, namespaces=namespaces, group=GROUP)
    configuration = transfer.configuration(moved)
    yield configuration
    yield from transfer.run(moved, site, configuration.name, model.metadata.annotations.get(RUN_ANNOTATION, ""))


def _externals(model: DataCube, spec: SpecId, variables: list[Variable]) -> tuple[ExternalReference, ...]:
    wanted = environment.externals(variables, spec.namespace)
    if not data_cube_claim.made(model):
        wanted.add(
            ExternalReference("PersistentVolumeClaim", spec.namespace, data_cube_claim.of_cube(model).name or "")
        )
    bundle = remote(model).ca_bundle
    if bundle and bundle.secret_key_ref:
        wanted.add(_key("Secret", bundle.secret_key_ref, spec.namespace))
    if bundle and bundle.config_map_key_ref:
        wanted.add(_key("ConfigMap", bundle.config_map_key_ref, spec.namespace))
    return tuple(sorted(wanted))


def _key(kind: str, reference: Json, namespace: str) -> ExternalReference:
    keys = (str(reference["key"]),) if kind == "Secret" else ()
    return ExternalReference(kind, namespace, str(reference["name"]), keys)
