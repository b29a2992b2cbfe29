"""Lowering of `SampleJob`: one task on a SampleSet, once or on a schedule."""

from stowplan.library.builders.custom_resource import resource
from stowplan.library.dialects.sample_job import rules
from stowplan.library.dialects.sample_set import reference as dataset_reference
from stowplan.library.dialects.sample_set import sample_set, sync_namespace
from stowplan.library.dialects.shared import dataset_path, run_order, schedules, secrets, task_runs
from stowplan.library.dialects.shared.access import access
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.ir.data import CachedDataset, DataTask, SecretName, Site, Source
from stowplan.library.manifest import Part, Unit
from stowplan.library.values.names import TaskNames
from stowplan.schema.diagnostics import FieldPath, Finding, finding, has_errors
from stowplan.schema.juicefs.sync_options import SyncOptions
from stowplan.schema.kinds.sample_job import SampleJob
from stowplan.schema.meta import RUN_ANNOTATION, SpecId

_NO_OPTIONS = SyncOptions()


def lower(model: SampleJob, context: Context) -> Lowered:
    """Return all manifests of a SampleJob (none if it has errors) and all findings."""
    namespace = context.namespace(model.metadata.namespace)
    identity = SpecId("SampleJob", namespace, model.metadata.name)
    found = [
        *rules.type_findings(model),
        *schedules.findings(model.spec.schedule, model.spec.time_zone, model.metadata.annotations),
        *secrets.name_findings(model.spec.secret_ref, ("spec", "secretRef")),
        *run_order.annotation_findings(model.metadata.annotations),
    ]
    dataset, problems = _dataset(model, namespace, context)
    found += problems
    if dataset is None or has_errors(found):
        return Lowered(Unit(identity, ()), tuple(found))
    task = _task(model, dataset, namespace, context, identity)
    found += rules.option_findings(model, task, context)
    home, problems = _home(task, context)
    warmup = task_runs.warmup_after(task, TaskNames(model.metadata.name))
    found += [*problems, *task_runs.long_names(max((warmup or task).stems, key=len), task.schedule)]
    if has_errors(found):
        return Lowered(Unit(identity, ()), tuple(found))
    task = task._replace(namespace=home)
    externals = sync_namespace.externals(task.dataset, task.source) if task.operation == "sync" and task.source else ()
    unit = Unit(identity, _parts(model, task, warmup, context.site), externals)
    return Lowered(unit, tuple(found))


def _dataset(model: SampleJob, namespace: str, context: Context) -> tuple[CachedDataset | None, list[Finding]]:
    reference = model.spec.sample_set_ref
    if not reference or not reference.name:
        path = ("spec", "sampleSetRef", "name")
        message = "`sampleSetRef.name` is missing; it names the dataset to work on."
        return None, [finding("SP413", path, message, "Name a SampleSet of the same namespace.")]
    referred = context.sample_set(namespace, reference.name)
    if referred is not None:
        return sample_set.cached_dataset(referred, context), []
    return None, dataset_reference.missing(reference.name, namespace, context)


def _task(model: SampleJob, dataset: CachedDataset, namespace: str, context: Context, identity: SpecId) -> DataTask:
    spec = model.spec
    names = TaskNames(model.metadata.name)
    operation = spec.type or "sync"
    warmup = spec.warmup_options
    paths = {
        "warmup": warmup.paths if warmup else None,
        "rmr": spec.rmr_options.paths if spec.rmr_options else None,
        "clear": spec.clear_options.paths if spec.clear_options else None,
    }.get(operation) or []
    partitioned = operation in ("warmup", "clear")
    sync = spec.sync_options or _NO_OPTIONS
    return DataTask(
        origin=context.origin(identity),
        operation=operation,
        dataset=dataset,
        namespace=namespace,
        stems=tuple(names.task(i) for i in range(dataset.partitions)) if partitioned else (names.task(None),),
        configuration_stem=f"{names.base}-{operation}",
        source=Source(sync.source, secrets.resolve(spec.secret_ref, SecretName(namespace, "")))
        if sync.source
        else None,
        destination=sync.destination or "",
        sync_options=sync,
        paths=tuple(paths if operation == "clear" else map(dataset_path.relative, paths)),
        file=dataset_path.relative(warmup.file) if warmup and warmup.file else None,
        threads=warmup.threads if warmup else None,
        strategy=(warmup.strategy_name if warmup else None) or "sequence",
        schedule=spec.schedule,
        time_zone=spec.time_zone,
        suspend=bool(spec.terminate),
        run_after=run_order.specs(run_order.of_annotation(model.metadata.annotations, namespace)),
    )


def _home(task: DataTask, context: Context) -> tuple[str, list[Finding]]:
    if task.operation != "sync" or not task.source:
        return task.namespace, []
    path: FieldPath = ("spec", "secretRef", "namespace")
    if task.dataset.cached:
        refused = secrets.elsewhere(task.namespace, task.source.secret, context.platform, path)
        if refused:
            return task.namespace, refused
    return sync_namespace.namespace(task.dataset, task.source, context, path)


def _parts(model: SampleJob, task: DataTask, warmup: DataTask | None, site: Site) -> tuple[Part, ...]:
    """Return the parts of a task and of the warmup that follows it; None for no warmup."""
    names, origin = TaskNames(model.metadata.name), task.origin
    homes = [each.namespace for each in (task, warmup) if each]
    run = model.metadata.annotations.get(RUN_ANNOTATION, "")
    return (
        resource(model, origin),
        access(names.base, origin, site, namespaces=homes, after=task.run_after),
        *task_runs.parts("task", task, warmup, site, base=names.base, run=run),
    )
