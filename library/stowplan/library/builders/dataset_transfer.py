"""The sync of a dataset by the transfer agent, which copies from a remote side into the claim of the dataset."""

from typing import NamedTuple

from stowplan.library.builders import job, transfer
from stowplan.library.builders.pods import agent_pod
from stowplan.library.ir.data import DataTask, Placement, Remote, Site, Transfer
from stowplan.library.manifest import Json
from stowplan.schema.agents.agent_config import DEFAULT_MAX_DELETE, StatusTarget
from stowplan.schema.agents.marker import LOCK_FILE, STATE_DIRECTORY
from stowplan.schema.agents.transfer_config import Mirror, PvcEndpoint, State, TransferConfig

LEAST_MEMORY = 64
"""Smallest memory limit, in MiB, that the configuration of the agent may have."""

DEFAULT_PARALLELISM = 10


class Course(NamedTuple):
    """How a sync copies.

    `shared` is true if the transfer holds the lock of the tasks by `juicefs` in place of the lock file. `mirror` is
    given if the sync deletes what the source lacks.
    `parallelism` is the number of concurrent requests. `user` is the id of the agent's user and group.
    """

    shared: bool = False
    mirror: Mirror | None = None
    parallelism: int = DEFAULT_PARALLELISM
    user: int = agent_pod.AGENT_USER


def task_set(task: DataTask, remote: Remote, course: Course, site: Site, service_account: str) -> job.TaskSet:
    """Return the ConfigMap and the only Job of a sync that copies from `remote` into the claim of the task's dataset.

    `service_account` is the name of the pods' ServiceAccount.
    """
    resources = task.resources or site.platform.resources.task.model_dump()
    limit = deadline(task, site)
    moved = Transfer(
        origin=task.origin,
        component=task.operation,
        stem=task.stems[0],
        configuration_stem=task.configuration_stem,
        account=service_account,
        agent=remote.agent,
        config=_config(task, remote, course, site, resources),
        claim=task.dataset.claim.name,
        env=remote.env,
        resources=resources,
        backoff_limit=job.BACKOFF_LIMIT,
        attempt_seconds=None,
        total_seconds=limit,
        placement=Placement(tolerations=task.dataset.placement.tolerations),
        security=security(course.user),
        schedule=task.schedule,
        time_zone=task.time_zone,
        suspend=task.suspend,
        run_after=task.run_after,
    )
    configuration = transfer.configuration(moved)
    return job.TaskSet(configuration, (transfer.task(moved, site, configuration.name),))


def deadline(task: DataTask, site: Site) -> int | None:
    """Return the deadline of a sync's Job in seconds; None for a sync without a schedule, whose Job has none.

    Without one, a lost pod would stop all later runs of a CronJob.
    """
    return site.platform.juicefs.task_deadline_seconds if task.schedule is not None else None


def _config(task: DataTask, remote: Remote, course: Course, site: Site, resources: Json) -> TransferConfig:
    spec, dataset = task.origin.spec, task.dataset
    return TransferConfig(
        target=StatusTarget.model_validate({"kind": spec.kind, "namespace": spec.namespace, "name": spec.name}),
        reportPhase=site.agents_report_phase and not is_reported(task),
        source=remote.endpoint,
        sink=PvcEndpoint(claim=dataset.claim.name, path=inside(task, task.destination)),
        mirror=course.mirror,
        maxDelete=task.source.max_delete if task.source else DEFAULT_MAX_DELETE,
        softDeadlineSeconds=job.soft_deadline(deadline(task, site)),
        parallelism=course.parallelism,
        memoryMiB=max(transfer.memory(resources["limits"]), LEAST_MEMORY),
        state=State(
            directory=inside(task, f"{STATE_DIRECTORY}/{spec.kind.lower()}s/{spec.name}"),
            lock=inside(task, LOCK_FILE),
            shared=dataset.claim.sub_path if course.shared else None,
            dataset=dataset.claim.sub_path if task.completes else None,
        ),
    )


def is_reported(task: DataTask) -> bool:
    """Return whether others report the phase of the dataset of which this is a task, so that the task must not.

    They are the cache pods if there are any, otherwise the first sync, for a refresh. The result is False for the task
    of another spec, which reports a phase of its own.
    """
    cached = task.dataset.cached and task.dataset.partitions > 0
    return task.origin == task.dataset.origin and (cached or task.schedule is not None)


def inside(task: DataTask, path: str) -> str:
    """Return a `path` in the task's dataset as a path in its claim: without a leading `/`, and empty for the root."""
    parts = [*task.dataset.claim.sub_path.split("/"), *path.split("/")]
    return "/".join(part for part in parts if part not in ("", "."))


def security(user: int) -> Json:
    """Return the fields of a pod's `securityContext` for another user than that of all agents; empty for that one."""
    if user == agent_pod.AGENT_USER:
        return {}
    return {"runAsGroup": user, "runAsNonRoot": user != agent_pod.ROOT, "runAsUser": user}
