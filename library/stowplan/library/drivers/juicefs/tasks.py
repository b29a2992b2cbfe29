"""Sync, warmup, rmr and clear: the configuration of their agents, and their pods."""

from collections.abc import Sequence

from stowplan.library.builders import dataset_transfer, job
from stowplan.library.builders.config_map import config_map
from stowplan.library.builders.job import TaskSet
from stowplan.library.builders.metadata import Head
from stowplan.library.builders.pods import agent_pod, order_container
from stowplan.library.drivers.juicefs import cache, runtime, sync
from stowplan.library.ir.data import DataTask, Placement, Site
from stowplan.library.manifest import Json
from stowplan.schema.agents.agent_config import (
    DEFAULT_MAX_DELETE,
    SOURCE_SECRET_ENV,
    VOLUME_SECRET_ENV,
    AgentConfig,
    StatusTarget,
)
from stowplan.schema.agents.cache_config import ClearConfig, RmrConfig, SyncConfig, WarmupConfig
from stowplan.schema.diagnostics import FieldPath, Finding, finding
from stowplan.schema.juicefs.option_forms import PATH
from stowplan.schema.juicefs.options import CREDENTIAL_KEYS

_OPTIONAL_VOLUME_KEYS = ("storage", "bucket", *CREDENTIAL_KEYS, "envs")


def task_set(task: DataTask, site: Site, service_account: str) -> TaskSet:
    """Return the ConfigMap and the Jobs of a task, one for each of its stems.

    The transfer agent does a sync whose source `juicefs sync` cannot read.
    """
    if task.operation == "sync" and task.source and task.source.remote:
        return sync.by_transfer(task, task.source.remote, site, service_account)
    head, run = Head(task.origin, task.operation, namespace=task.namespace), task.schedule is None
    configuration = config_map(task.configuration_stem, head, config(task, site), run=run)
    jobs = tuple(
        job.Task(
            stem,
            task.operation,
            task.namespace,
            job.job_spec(
                agent_pod.template(_pod(task, site, configuration.name, service_account, index), task.origin, site),
                container=task.operation,
                deadline_seconds=_deadline(task, site),
                suspend=task.suspend,
            ),
        )
        for index, stem in enumerate(task.stems)
    )
    return TaskSet(configuration, jobs)


def _deadline(task: DataTask, site: Site) -> int | None:
    """Return the deadline of a task's Job in seconds; None if it has none.

    Without it, a pod that cannot be scheduled would wait unnoticed, and its CronJob would start no further Jobs. A
    task that waits for a sync or for another spec has no deadline, because the deadline would include that time.
    """
    limited = (task.partitioned and task.after is None and not task.run_after) or task.schedule is not None
    return site.platform.juicefs.task_deadline_seconds if limited else None


def config(task: DataTask, site: Site) -> AgentConfig:
    """Return the configuration that all Jobs of the task share. The number of the partition is an argument instead."""
    spec = task.origin.spec
    # A sync of a SampleJob reports the phase, so the warmup after it does not.
    follows = task.after is not None and task.origin != task.dataset.origin
    # Agents take no notice of it for a SampleSet, whose committed runs have it.
    reported = spec.kind != "SampleSet" and dataset_transfer.is_reported(task)
    shared: Json = {
        "target": StatusTarget.model_validate({"kind": spec.kind, "namespace": spec.namespace, "name": spec.name}),
        "reportPhase": site.agents_report_phase and not follows and not reported,
        "dataset": task.dataset.names.name,
        "softDeadlineSeconds": job.soft_deadline(_deadline(task, site)),
    }
    mounted = {**shared, "mountPath": runtime.mount_path(task.dataset.names.name)}
    match task.operation:
        case "sync":
            return _sync(task, shared)
        case "warmup":
            return _warmup(task, site, mounted)
        case "rmr":
            return RmrConfig.model_validate({**mounted, "paths": list(task.paths)})
        case "clear":
            several = task.dataset.partitions if task.dataset.partitions > 1 else None
            # `findings` refuses paths that are not all directories of the cache, so all of it is cleared.
            return ClearConfig.model_validate({**mounted, "cachePaths": [], "partitions": several})


def findings(task: DataTask, site: Site) -> list[Finding]:
    """Return findings about a task that must write although its dataset is mounted read-only, and about a clear whose
    paths are not all cache directories of the dataset.
    """
    return [*_read_only(task), *_cleared(task, site)]


def _read_only(task: DataTask) -> list[Finding]:
    if task.operation == "sync" or not task.dataset.options.read_only:
        return []
    message = f"A {task.operation} needs a writable mount, and {task.dataset.names.name} is mounted read-only."
    hint = "Remove `read-only` from its mount options; training pods can mount the claim read-only."
    return [finding("SP413", ("spec", "sampleSetRef"), message, hint)]


def _cleared(task: DataTask, site: Site) -> list[Finding]:
    """Return findings about the paths of a clear: together they must be all cache directories of the dataset.

    JuiceFS spreads the blocks of each file over all directories and evicts by file. So neither a single directory nor a
    directory below one can be cleared alone.
    """
    if task.operation != "clear" or not task.paths:
        return []
    base: FieldPath = ("spec", "clearOptions", "paths")
    found = []
    known = cache.resolve(task.dataset, site).directories
    for index, path in enumerate(task.paths):
        if not PATH.fits(path.removesuffix("/*")):
            message = f"Found {path!a}; allowed is {PATH.words}."
            found.append(finding("SP405", (*base, index), message, "Name a cache directory, or none to clear all."))
        elif not any(_covers(directory, path) for directory in known):
            message = f'"{path}" lies in no cache directory of {task.dataset.names.name}: {", ".join(known)}.'
            hint = "Name one of these directories, or none to clear all."
            found.append(finding("SP416", (*base, index), message, hint))
    return found or _partly(task, known, base)


def _partly(task: DataTask, known: Sequence[str], base: FieldPath) -> list[Finding]:
    """Return a finding if the paths of a clear leave out a part of the cache directories `known`."""
    named = {path.removesuffix("*").rstrip("/") for path in task.paths}
    left = [each for each in known if not named & {each.rstrip("/"), _in_container(each)}]
    if not left:
        return []
    message = (
        f"These paths are a part of the cache of {task.dataset.names.name}, and JuiceFS can only clear the whole: "
        f"{', '.join(known)}."
    )
    hint = "Remove `paths` to clear all of it on every cache node. An `rmr` removes files from the dataset itself."
    return [finding("SP421", base, message, hint)]


def _covers(directory: str, path: str) -> bool:
    if ".." in path.split("/"):
        return False
    inside = path.rstrip("/*") + "/"
    return inside.startswith((directory.rstrip("/") + "/", _in_container(directory) + "/"))


def _in_container(directory: str) -> str:
    """Return the path at which the old runtime's container had a cache directory, which its users could name too."""
    return "/cache/" + directory.strip("/").replace("/", "-")


def _sync(task: DataTask, shared: Json) -> SyncConfig:
    source, destination = sync.ends(task)
    return SyncConfig.model_validate(
        {
            **shared,
            "source": source,
            "destination": destination,
            "root": sync.root(task),
            "flags": sync.flags(task.sync_options),
            "include": task.source and task.source.include,
            "exclude": task.source and task.source.exclude,
            "completes": task.completes,
            "maxDelete": task.source.max_delete if task.source else DEFAULT_MAX_DELETE,
        }
    )


def _warmup(task: DataTask, site: Site, mounted: Json) -> WarmupConfig:
    return WarmupConfig.model_validate(
        {
            **mounted,
            "paths": list(task.paths),
            "file": task.file,
            "threads": task.threads or 50,
            "strategy": task.strategy,
            "partitions": task.dataset.partitions,
            "threshold": site.platform.juicefs.warmup_threshold,
            "after": None if task.after_run else task.after,
            "afterRun": task.after_run,
            "marks": False if task.after and not task.completes else None,
        }
    )


def _pod(task: DataTask, site: Site, configuration: str, service_account: str, index: int) -> agent_pod.AgentPod:
    mounted = task.operation != "sync"
    path = runtime.mount_path(task.dataset.names.name)
    return agent_pod.AgentPod(
        component=task.operation,
        agent="cache",
        module=runtime.MODULE,
        args=(task.operation, agent_pod.PARTITION, str(index)) if task.partitioned else (task.operation,),
        config_map=configuration,
        service_account=service_account,
        resources=task.resources or site.platform.resources.task,
        user=site.platform.juicefs.task_user,
        mount=agent_pod.Mount(task.dataset.names.claim, path) if mounted else None,
        env=(agent_pod.run_env(), *_secret_env(task)),
        placement=Placement(tolerations=task.dataset.placement.tolerations),
        pod_affinity=_pod_affinity(task, index),
        init=order_container.containers(task.run_after, site),
    )


def _secret_env(task: DataTask) -> tuple[Json, ...]:
    if task.operation != "sync":
        return ()
    env = agent_pod.secret_env(task.dataset.volume_secret, VOLUME_SECRET_ENV, optional=_OPTIONAL_VOLUME_KEYS)
    if task.source and task.source.secret.name:
        env += agent_pod.secret_env(task.source.secret, SOURCE_SECRET_ENV, optional=CREDENTIAL_KEYS)
    return env


def _pod_affinity(task: DataTask, index: int) -> Json | None:
    """Return the pod affinity of a task's pod; None for a sync, which may run on any cluster node.

    Warmup and clear run on the cluster node of the cache pod number `index`. rmr prefers one with any cache pod.
    """
    if task.partitioned:
        return runtime.at_partition(task.dataset, index)
    return runtime.near(task.dataset) if task.operation == "rmr" else None
