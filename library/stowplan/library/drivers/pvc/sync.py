"""The sync of a dataset in a claim: a transfer, from S3 or another remote side."""

from stowplan.library.builders import dataset_transfer, transfer
from stowplan.library.builders.dataset_transfer import Course
from stowplan.library.builders.pods import agent_pod
from stowplan.library.drivers.api import TaskSet
from stowplan.library.drivers.pvc import options, source
from stowplan.library.ir.data import DataTask, Remote, Site, Source
from stowplan.library.manifest import Json
from stowplan.schema.agents.agent_config import SOURCE_SECRET_ENV
from stowplan.schema.agents.transfer_config import Mirror
from stowplan.schema.remotes.remote import option_env
from stowplan.schema.remotes.s3 import S3Endpoint

_ENDPOINT, _REGION = option_env("s3-endpoint"), option_env("s3-region")


def task_set(task: DataTask, site: Site, service_account: str) -> TaskSet:
    """Return the ConfigMap and the only Job of a sync. The source must be valid."""
    given = task.sync_options
    mirror = Mirror(maxDelete=task.max_delete) if given.delete_dst else None
    course = Course(mirror=mirror, parallelism=options.threads(given))
    moved = dataset_transfer.of_task(task, _remote(task), course, site, service_account)
    configuration = transfer.configuration(moved)
    return TaskSet(configuration, (transfer.task(moved, site, configuration.name),))


def _remote(task: DataTask) -> Remote:
    """Return the remote side of the sync: the one of the source, or the S3 store that its URI names."""
    if task.source and task.source.remote:
        return task.source.remote
    found = source.parse(task.source.uri if task.source else "", plain=bool(task.sync_options.no_https))
    if isinstance(found, str) or not task.source:
        # `validate` and `validate_task` refuse such a source.
        raise TypeError(found)
    keys = SOURCE_SECRET_ENV if task.source.secret.name else {}
    endpoint = S3Endpoint(
        uri=found.uri,
        kind="prefix",
        endpointEnv=_ENDPOINT if found.endpoint else None,
        regionEnv=_REGION if found.region else None,
        accessKeyIdEnv=keys.get("access-key"),
        secretAccessKeyEnv=keys.get("secret-key"),
        anonymous=not keys,
    )
    return Remote(endpoint, (*_secret_env(task.source), *_literals(found)))


def _secret_env(given: Source) -> tuple[Json, ...]:
    """Return the variables with the credentials of the source, both required; none for a public source."""
    return agent_pod.secret_env(given.secret, SOURCE_SECRET_ENV, optional=()) if given.secret.name else ()


def _literals(found: source.S3Source) -> tuple[Json, ...]:
    values = {_ENDPOINT: found.endpoint, _REGION: found.region}
    return tuple({"name": name, "value": value} for name, value in values.items() if value)
