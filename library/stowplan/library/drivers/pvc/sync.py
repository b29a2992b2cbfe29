"""The sync of a dataset in a claim: a transfer from S3."""

from stowplan.library.builders import job, transfer
from stowplan.library.builders.pods import agent_pod
from stowplan.library.drivers.api import TaskSet
from stowplan.library.drivers.pvc import options, source
from stowplan.library.ir.data import DataTask, Placement, Site, Transfer
from stowplan.library.manifest import Json
from stowplan.schema.agents.cache_config import SOURCE_SECRET_ENV, Target
from stowplan.schema.agents.marker import LOCK_FILE, STATE_DIRECTORY
from stowplan.schema.agents.transfer_config import Mirror, PvcEndpoint, State, TransferConfig
from stowplan.schema.remotes.remote import option_env
from stowplan.schema.remotes.s3 import S3Endpoint

_LEAST_MEMORY = 64
_ENDPOINT, _REGION = option_env("s3-endpoint"), option_env("s3-region")


def task_set(task: DataTask, site: Site, service_account: str) -> TaskSet:
    """Return the ConfigMap and the only Job of a sync. The source must be valid."""
    found = source.parse(task.source.uri if task.source else "", plain=bool(task.sync_options.no_https))
    if isinstance(found, str):
        # `validate` and `validate_task` refuse such a source.
        raise TypeError(found)
    moved = _transfer(task, found, site, service_account)
    configuration = transfer.configuration(moved)
    return TaskSet(configuration, (transfer.task(moved, site, configuration.name),))


def _transfer(task: DataTask, found: source.S3Source, site: Site, service_account: str) -> Transfer:
    resources = site.platform.resources.task.model_dump()
    deadline = site.platform.juicefs.task_deadline_seconds if task.schedule is not None else None
    return Transfer(
        origin=task.origin,
        component=task.operation,
        stem=task.stems[0],
        configuration_stem=task.configuration_stem,
        account=service_account,
        agent="transfer",
        config=_config(task, found, site, resources, deadline),
        claim=task.dataset.claim.name,
        env=(*_secret_env(task), *_literals(found)),
        resources=resources,
        backoff_limit=job.BACKOFF_LIMIT,
        attempt_seconds=None,
        total_seconds=deadline,
        placement=Placement(tolerations=task.dataset.placement.tolerations),
        schedule=task.schedule,
        time_zone=task.time_zone,
        suspend=task.suspend,
    )


def _config(
    task: DataTask, found: source.S3Source, site: Site, resources: Json, deadline: int | None
) -> TransferConfig:
    spec, dataset = task.origin.spec, task.dataset
    keys = SOURCE_SECRET_ENV if _secret(task) else {}
    return TransferConfig(
        target=Target.model_validate({"kind": spec.kind, "namespace": spec.namespace, "name": spec.name}),
        reportPhase=site.agents_report_phase,
        source=S3Endpoint(
            uri=found.uri,
            kind="prefix",
            endpointEnv=_ENDPOINT if found.endpoint else None,
            regionEnv=_REGION if found.region else None,
            accessKeyIdEnv=keys.get("access-key"),
            secretAccessKeyEnv=keys.get("secret-key"),
            anonymous=not keys,
        ),
        sink=PvcEndpoint(claim=dataset.claim.name, path=_inside(task, task.destination)),
        mirror=Mirror() if task.sync_options.delete_dst else None,
        softDeadlineSeconds=job.soft_deadline(deadline),
        parallelism=options.threads(task.sync_options),
        memoryMiB=max(transfer.memory(resources["limits"]), _LEAST_MEMORY),
        state=State(
            directory=_inside(task, f"{STATE_DIRECTORY}/{spec.kind.lower()}s/{spec.name}"),
            lock=_inside(task, LOCK_FILE),
            dataset=dataset.claim.sub_path if task.completes else None,
        ),
    )


def _inside(task: DataTask, path: str) -> str:
    """Return a path in the dataset as a path in its claim."""
    parts = [*task.dataset.claim.sub_path.split("/"), *path.split("/")]
    return "/".join(part for part in parts if part not in ("", "."))


def _secret(task: DataTask) -> bool:
    return bool(task.source and task.source.secret.name)


def _secret_env(task: DataTask) -> tuple[Json, ...]:
    """Return the variables with the credentials of the source, both required; none for a public source."""
    return (
        agent_pod.secret_env(task.source.secret, SOURCE_SECRET_ENV, optional=())
        if task.source and _secret(task)
        else ()
    )


def _literals(found: source.S3Source) -> tuple[Json, ...]:
    values = {_ENDPOINT: found.endpoint, _REGION: found.region}
    return tuple({"name": name, "value": value} for name, value in values.items() if value)
