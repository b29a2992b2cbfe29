"""Rules of a `DatasetTask` that its model cannot express."""

from collections.abc import Iterator, Sequence

from stowplan.library.dialects.dataset import syncs
from stowplan.library.dialects.dataset.one_of import exactly_one
from stowplan.library.dialects.dataset_task import copy_rules, task
from stowplan.library.dialects.shared import dataset_path, missing_dataset, run_order, schedules, task_resources
from stowplan.library.dialects.shared.context import Context
from stowplan.library.ir.data import CachedDataset
from stowplan.schema.diagnostics import Anchor, Finding, finding
from stowplan.schema.kinds.native.dataset_task import DatasetTask
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform


def of_spec(model: DatasetTask, platform: Platform) -> Iterator[Finding]:
    """Yield all findings about a DatasetTask that do not depend on its dataset, also those about a copy."""
    spec = model.spec
    given = {"sync": spec.sync, "warmup": spec.warmup, "evict": spec.evict, "remove": spec.remove, "copy": spec.copy_}
    yield from exactly_one(given, ("spec",), "A task does one thing")
    yield from schedules.findings(spec.schedule, spec.time_zone, model.metadata.annotations)
    yield from run_order.no_annotation(model.metadata.annotations)
    for index, path in enumerate((spec.warmup and spec.warmup.paths) or ()):
        # `/` is everything.
        yield from dataset_path.one(path, ("spec", "warmup", "paths", index)) if path.strip("/") else ()
    if spec.remove:
        yield from dataset_path.findings(spec.remove.paths, ("spec", "remove", "paths"))
    if spec.resources:
        yield from task_resources.findings(spec.resources, task.resources(model, platform), ("spec", "resources"))
    if spec.copy_:
        yield from copy_rules.of_copy(spec.copy_)


def of_dataset(model: DatasetTask, dataset: CachedDataset) -> Iterator[Finding]:
    """Yield findings about what cannot be done on `dataset`, the task's. Call it if `of_spec` found no errors."""
    spec, what = model.spec, task.operation(model)
    at, name = ("spec", what), dataset.names.name
    cached = dataset.cached
    if spec.sync and not dataset.source:
        message = f"{name} has no source to copy from."
        yield finding("SP468", at, message, "Add `source` to the Dataset.", anchor=Anchor.KEY)
    elif spec.sync:
        yield from syncs.findings(spec.sync, dataset, at)
    if what in ("warmup", "evict") and not dataset.partitions:
        message = f"No node caches {name}, so there is nothing to {_VERBS[what]}."
        hint = "Remove the task, or add `cache` to the Dataset." if cached else "Remove the task: a claim has no cache."
        yield finding("SP468", at, message, hint, anchor=Anchor.KEY)
    elif what == "remove" and not cached:
        message = f"{name} is in a claim, and no agent removes files from one."
        hint = "Remove the files in a pod that mounts the claim, or at an S3 source, and sync with `delete: true`."
        yield finding("SP468", at, message, hint, anchor=Anchor.KEY)
    elif what in ("warmup", "evict", "remove") and dataset.options.read_only:
        message = f"To {_VERBS[what]}, {name} must be mounted writable, and its volume has the option `read-only`."
        hint = "Remove the option; jobs mount datasets read-only unless they say otherwise."
        yield finding("SP468", at, message, hint, anchor=Anchor.KEY)
    if spec.copy_:
        yield from copy_rules.of_claims(spec.copy_, dataset)


def missing(model: DatasetTask, namespace: str, context: Context) -> list[Finding]:
    """Return a finding about the task's Dataset, which the namespace lacks; an empty list if it is reported already."""
    name = model.spec.dataset_ref.name

    def elsewhere(others: Sequence[str]) -> Finding:
        message = f"There is no Dataset {name} in namespace {namespace}, only in {', '.join(others)}."
        hint = (
            f"Write the task in {others[0]}. To share the data, add a Dataset to {namespace} with the JuiceFS volume"
            f" and the `subPath` of the other one (by default {others[0]}/{name}), and without `source`."
        )
        return finding("SP302", task.DATASET, message, hint)

    return missing_dataset.findings(SpecId("Dataset", namespace, name), task.DATASET, context, elsewhere)


_VERBS = {"warmup": "warm up", "evict": "evict", "remove": "remove files"}
