"""The sync of a dataset in a claim: a transfer, from S3 or another remote side."""

from stowplan.library.builders import dataset_transfer
from stowplan.library.builders.dataset_transfer import Course
from stowplan.library.builders.job import TaskSet
from stowplan.library.builders.pods import agent_pod
from stowplan.library.drivers.pvc import options, source
from stowplan.library.ir.data import DataTask, Remote, Site
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
    return dataset_transfer.task_set(task, _remote(task), course, site, service_account)


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
    secret = agent_pod.secret_env(task.source.secret, SOURCE_SECRET_ENV, optional=()) if keys else ()
    values = {_ENDPOINT: found.endpoint, _REGION: found.region}
    return Remote(endpoint, (*secret, *({"name": name, "value": value} for name, value in values.items() if value)))
