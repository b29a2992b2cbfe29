"""Lowering of `DatasetTask`: one operation on a Dataset, once or on a schedule."""

from collections.abc import Sequence

from stowplan.library.builders import transfer
from stowplan.library.builders.custom_resource import resource
from stowplan.library.dialects.dataset import syncs
from stowplan.library.dialects.dataset.cached import cached_dataset
from stowplan.library.dialects.dataset_task import copying, rules, task
from stowplan.library.dialects.shared import secrets, task_runs
from stowplan.library.dialects.shared.access import access
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.drivers.registry import STORAGE_DRIVERS
from stowplan.library.ir.data import CachedDataset, DataTask
from stowplan.library.manifest import ExternalReference, Part, Unit
from stowplan.schema.diagnostics import Finding, has_errors
from stowplan.schema.kinds.native.dataset_task import CopyTask, DatasetTask
from stowplan.schema.meta import RUN_ANNOTATION


def lower(model: DatasetTask, context: Context) -> Lowered:
    """Return all manifests of a DatasetTask (none if it has errors) and all findings."""
    spec = context.id(model)
    found = list(rules.of_spec(model, context.platform))
    referred = context.dataset(spec.namespace, model.spec.dataset_ref.name)
    if referred is None:
        found += rules.missing(model, spec.namespace, context)
        return Lowered(Unit(spec, ()), tuple(found))
    dataset = cached_dataset(referred, context)
    found += rules.of_dataset(model, dataset) if not has_errors(found) else ()
    if has_errors(found):
        return Lowered(Unit(spec, ()), tuple(found))
    if model.spec.copy_:
        return _copy(model, model.spec.copy_, dataset, context, found)
    return _task(model, dataset, context, found)


def _copy(
    model: DatasetTask, copy: CopyTask, dataset: CachedDataset, context: Context, found: list[Finding]
) -> Lowered:
    spec, run = context.id(model), model.metadata.annotations.get(RUN_ANNOTATION, "")
    moved = copying.transfer(model, copy, dataset, context)
    found += task_runs.long_names(moved.stem, moved.schedule)
    own = Part("task", tuple(transfer.manifests(moved, context.site, run)))
    parts = _parts(model, context, [spec.namespace], [own])
    return Lowered(
        Unit(spec, parts, copying.externals(copy.to, spec.namespace)),
        tuple(found),
    )


def _task(model: DatasetTask, dataset: CachedDataset, context: Context, found: list[Finding]) -> Lowered:
    spec, run = context.id(model), model.metadata.annotations.get(RUN_ANNOTATION, "")
    own, names = task.data_task(model, dataset, context), task.names(model)
    warmup = task_runs.warmup_after(own, names)
    if model.spec.sync:
        # The Dataset reports it if there is no such namespace.
        home, problems = syncs.home(dataset, context)
        if has_errors(problems):
            return Lowered(Unit(spec, ()), tuple(found))
        own = own._replace(namespace=home)
    found += task_runs.long_names(max((warmup or own).stems, key=len), own.schedule)
    made = task_runs.parts("task", own, warmup, context.site, base=names.base, run=run)
    homes = [each.namespace for each in (own, warmup) if each]
    unit = Unit(spec, _parts(model, context, homes, made), _externals(own))
    return Lowered(unit, tuple(found))


def _externals(own: DataTask) -> tuple[ExternalReference, ...]:
    """Return references to the Secrets that a sync reads: that of its source, and that of the volume.

    The volume's is needed only by `juicefs sync`, which writes to the volume without a mount.
    """
    if own.operation != "sync" or own.source is None:
        return ()
    direct = own.source.remote is None and own.dataset.cached
    volume = STORAGE_DRIVERS[own.dataset.driver].externals(own.dataset) if direct else set()
    return tuple(sorted({*volume, *secrets.of_source(own.source)}))


def _parts(model: DatasetTask, context: Context, homes: list[str], made: Sequence[Part]) -> tuple[Part, ...]:
    """Return the custom resource, the rights of the agents in the namespaces `homes`, and what was `made` before."""
    origin = context.origin(context.id(model))
    base = task.names(model).base
    after = task.run_after(model, context)
    rights = access(base, origin, context.site, namespaces=homes, after=after)
    return (resource(model, origin), rights, *made)
