"""The sync of a dataset in a claim by `juicefs sync`, which reads object storages that the transfer agent does not."""

from stowplan.library.builders import dataset_transfer, job, transfer
from stowplan.library.builders.config_map import config_map
from stowplan.library.builders.job import TaskSet
from stowplan.library.builders.metadata import Head
from stowplan.library.builders.pods import agent_pod
from stowplan.library.ir.data import DataTask, Placement, Site, Source
from stowplan.library.manifest import Json
from stowplan.schema.agents.agent_config import SOURCE_SECRET_ENV, StatusTarget
from stowplan.schema.agents.cache_config import SyncConfig
from stowplan.schema.agents.transfer_config import CLAIM_DIRECTORY
from stowplan.schema.juicefs.options import CREDENTIAL_KEYS

MODULE = "stowplan.agents.cache"

_FLAGS: dict[str, str | int | bool] = {"check-new": True}
"""Options of `juicefs sync`, by name without dashes: files that it copies are verified."""


def task_set(task: DataTask, source: Source, site: Site, service_account: str) -> TaskSet:
    """Return the ConfigMap and the only Job of a sync from `source`, the source of the task."""
    head, run = Head(task.origin, task.operation, namespace=task.namespace), task.schedule is None
    configuration = config_map(task.configuration_stem, head, _config(task, source, site), run=run)
    spec: Json = {
        **job.job_spec(
            agent_pod.template(_pod(task, source, site, configuration.name, service_account), task.origin, site),
            container=task.operation,
            deadline_seconds=dataset_transfer.deadline(task, site),
            suspend=task.suspend,
        ),
        **transfer.ONE_AT_A_TIME,
    }
    return TaskSet(configuration, (job.Task(task.stems[0], task.operation, task.namespace, spec),))


def _config(task: DataTask, source: Source, site: Site) -> SyncConfig:
    spec, directory = task.origin.spec, dataset_transfer.inside(task, "")
    return SyncConfig(
        target=StatusTarget.model_validate({"kind": spec.kind, "namespace": spec.namespace, "name": spec.name}),
        reportPhase=site.agents_report_phase and not dataset_transfer.is_reported(task),
        dataset=task.dataset.names.name,
        softDeadlineSeconds=job.soft_deadline(dataset_transfer.deadline(task, site)),
        source=source.uri,
        destination=f"/{directory}/" if directory else "/",
        mountPath=CLAIM_DIRECTORY,
        root=f"/{directory}" if directory else None,
        flags=_FLAGS,
        include=source.include,
        exclude=source.exclude,
        completes=task.completes,
        maxDelete=source.max_delete,
    )


def _pod(task: DataTask, source: Source, site: Site, configuration: str, service_account: str) -> agent_pod.AgentPod:
    keys = agent_pod.secret_env(source.secret, SOURCE_SECRET_ENV, optional=CREDENTIAL_KEYS)
    return agent_pod.AgentPod(
        component=task.operation,
        agent="cache",
        module=MODULE,
        args=(task.operation,),
        config_map=configuration,
        service_account=service_account,
        resources=task.resources or site.platform.resources.task,
        mount=agent_pod.Mount(task.dataset.claim.name, CLAIM_DIRECTORY),
        env=(agent_pod.run_env(), *(keys if source.secret.name else ())),
        placement=Placement(tolerations=task.dataset.placement.tolerations),
        annotations=transfer.KEEP_NODE,
        security=transfer.WRITES,
    )
