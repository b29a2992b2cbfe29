"""The Jobs or CronJobs of a task on a dataset, and of the warmup that follows a sync."""

from stowplan.library.builders import job
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import DataTask, Site
from stowplan.library.manifest import Manifest, Part
from stowplan.library.values.names import CRON_JOB_LIMIT, HASH_LENGTH, LABEL_LIMIT, TaskNames, shorten
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.juicefs.sync_options import SyncOptions

_NO_OPTIONS = SyncOptions()


def warmup_after(task: DataTask, names: TaskNames) -> DataTask | None:
    """Return the warmup of all cache nodes that follows a sync; None if none follows.

    A dry sync copies nothing, so nothing follows it.
    """
    if task.operation != "sync" or not task.dataset.warms or task.sync_options.dry:
        return None
    return task._replace(
        operation="warmup",
        namespace=task.dataset.names.namespace,
        stems=tuple(names.warmup(i) for i in range(task.dataset.partitions)),
        configuration_stem=f"{names.base}-warmup",
        source=None,
        destination="",
        sync_options=_NO_OPTIONS,
        max_delete=None,
        paths=task.dataset.warmup_paths,
        after=shorten(task.stems[0], _room(task.schedule)),
        run_after=(),
    )


def long_names(stem: str, schedule: str | None) -> list[Finding]:
    """Return a finding if the name `stem` is too long for a CronJob, or with a hash for a Job if `schedule` is None."""
    if len(stem) <= _room(schedule):
        return []
    message = f"{stem} is too long for the name of a Job, so a hash takes the place of its end."
    return [finding("SP505", ("metadata", "name"), message, "Shorten the name if you want to recognise its Jobs.")]


def _room(schedule: str | None) -> int:
    return LABEL_LIMIT - HASH_LENGTH - 1 if schedule is None else CRON_JOB_LIMIT


def parts(name: str, task: DataTask, warmup: DataTask | None, site: Site, *, base: str, run: str) -> tuple[Part, ...]:
    """Return the parts of a task and of the warmup that follows it, if any: Jobs or CronJobs, and configurations.

    `name` is that of the task's part. `base` is the name of the ServiceAccount of the pods, `run` the value of the
    annotation `stowplan.dev/run`.
    """
    own = _runs(task, site, base, run)
    if warmup is None:
        return (Part(name, own),)
    # The sync has a hash of its own, so that more cache nodes do not start it again.
    after = None if task.schedule is not None else own[-1].name
    return Part(name, own), Part("warmup", _runs(warmup._replace(after_run=after), site, base, run))


def _runs(task: DataTask, site: Site, base: str, run: str) -> tuple[Manifest, ...]:
    made = STORAGE_DRIVERS[task.dataset.driver].tasks(task, site, base)
    if task.schedule is None:
        return (made.configuration, *job.jobs(made.jobs, task.origin, run))
    schedule, zone = task.schedule, task.time_zone
    return made.configuration, *(job.cron_job(one, task.origin, schedule=schedule, time_zone=zone) for one in made.jobs)
