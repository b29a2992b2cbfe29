"""Rules for the type and the options of a SampleJob."""

from stowplan.library.dialects.shared import dataset_path, source_uri
from stowplan.library.dialects.shared.context import Context
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import DataTask
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, finding, without_effect
from stowplan.schema.kinds.sample_job import SampleJob, TaskType

_OPTIONS: dict[TaskType, str] = {
    "sync": "syncOptions",
    "warmup": "warmupOptions",
    "rmr": "rmrOptions",
    "clear": "clearOptions",
}


def type_findings(model: SampleJob) -> list[Finding]:
    """Return a finding if the type is missing, or for each block of options of another type."""
    chosen = model.spec.type
    if chosen is None:
        message = "`type` is missing."
        return [finding("SP412", ("spec", "type"), message, "Choose one of sync, warmup, rmr and clear.")]
    spec = model.spec
    own = {
        "sync": spec.sync_options,
        "warmup": spec.warmup_options,
        "rmr": spec.rmr_options,
        "clear": spec.clear_options,
    }
    return [
        finding(
            "SP414",
            ("spec", key),
            f"`{key}` is ignored, since `type` is {chosen}.",
            f"Remove it, or use {_OPTIONS[chosen]}.",
            anchor=Anchor.KEY,
        )
        for kind, key in _OPTIONS.items()
        if kind != chosen and own[kind] is not None
    ]


def option_findings(model: SampleJob, task: DataTask, context: Context) -> list[Finding]:
    """Return the findings about the options of the task, with those of the storage driver."""
    checks = {"sync": _sync, "warmup": _warmup, "rmr": _rmr}
    own = checks[task.operation](model, task) if task.operation in checks else []
    return [*own, *STORAGE_DRIVERS[task.dataset.driver].validate_task(task, context.site)]


def _sync(model: SampleJob, task: DataTask) -> list[Finding]:
    spec = model.spec
    found = []
    public = not task.dataset.cached
    if not public and not (spec.secret_ref and spec.secret_ref.name):
        message = "A sync needs `secretRef.name`: the Secret with the credentials of its source."
        found.append(finding("SP413", ("spec", "secretRef", "name"), message, "Name it."))
    options = spec.sync_options
    if not options or not options.source:
        path = ("spec", "syncOptions", "source")
        found.append(finding("SP413", path, "A sync needs `syncOptions.source`.", "Give the URI to copy from."))
        return found
    found += source_uri.findings(options.source, ("spec", "syncOptions", "source"))
    if options.destination and options.destination.strip("/"):
        found += dataset_path.one(options.destination, ("spec", "syncOptions", "destination"))
    return found


def _warmup(model: SampleJob, _: DataTask) -> list[Finding]:
    options = model.spec.warmup_options
    if not options:
        return []
    base: FieldPath = ("spec", "warmupOptions")
    paths = enumerate(options.paths or ())
    found = [problem for i, p in paths if p.strip("/") for problem in dataset_path.one(p, (*base, "paths", i))]
    if options.file:
        found += dataset_path.one(options.file, (*base, "file"))
        if options.paths:
            message = "`paths` has no effect together with `file`, which lists the paths."
            found.append(without_effect((*base, "paths"), message, "Remove one of the two."))
    if options.partitions is not None:
        found.append(without_effect((*base, "partitions"), "`partitions` has no effect: the dataset's number is used."))
    if options.threads is not None and options.threads < 1:
        message = f"`threads` is {options.threads}; it must be 1 or more."
        found.append(finding("SP205", (*base, "threads"), message, "Give a number, or remove it for 50."))
    return found


def _rmr(model: SampleJob, _: DataTask) -> list[Finding]:
    options = model.spec.rmr_options
    if not options or not options.paths:
        path = ("spec", "rmrOptions", "paths")
        return [finding("SP413", path, "An rmr needs `rmrOptions.paths`.", "Name the paths to remove.")]
    return dataset_path.findings(options.paths, ("spec", "rmrOptions", "paths"))
