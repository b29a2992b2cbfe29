"""What a `DatasetTask` asks for, as the task that drivers know."""

from typing import cast

from stowplan.library.builders.pods import agent_pod
from stowplan.library.dialects.dataset import syncs
from stowplan.library.dialects.shared import claim_paths, run_order, task_resources
from stowplan.library.dialects.shared.context import Context
from stowplan.library.dialects.shared.task_resources import Resources
from stowplan.library.ir.data import CachedDataset, DataTask, Operation
from stowplan.library.values.names import TaskNames
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.kinds.native.dataset_task import TASKS, DatasetTask
from stowplan.schema.meta import SpecId
from stowplan.schema.platform.platform import Platform

KIND = "DatasetTask"
DATASET: FieldPath = ("spec", "datasetRef", "name")
"""Path of the name of the task's Dataset."""


def operation(model: DatasetTask) -> str:
    """Return the field of the spec that says what is done, such as `copy`, or the first of several; empty for none."""
    spec = model.spec
    given = {"sync": spec.sync, "warmup": spec.warmup, "evict": spec.evict, "remove": spec.remove, "copy": spec.copy_}
    return next((key for key, value in given.items() if value is not None), "")


def names(model: DatasetTask) -> TaskNames:
    """Return the names of the task's objects."""
    return TaskNames(model.metadata.name, KIND.lower())


def run_after(model: DatasetTask, context: Context) -> tuple[SpecId, ...]:
    """Return the specs that must be done before the task."""
    return run_order.specs(run_order.of_model(model, context.id(model).namespace))


def resources(model: DatasetTask, platform: Platform) -> Resources:
    """Return the requests and limits of the task's containers; what the spec does not give is the platform's."""
    return task_resources.merged(model.spec.resources or {}, agent_pod.amounts(platform.resources.task))


def data_task(model: DatasetTask, dataset: CachedDataset, context: Context) -> DataTask:
    """Return what a valid DatasetTask that is no copy does on its `dataset`, as a task in the dataset's namespace."""
    spec, own = model.spec, names(model)
    what = cast("Operation", TASKS[operation(model)])
    listed = spec.remove or spec.warmup
    partitioned = what in ("warmup", "clear")
    task = DataTask(
        origin=context.origin(context.id(model)),
        operation=what,
        dataset=dataset,
        namespace=dataset.names.namespace,
        stems=tuple(own.task(i) for i in range(dataset.partitions)) if partitioned else (own.task(None),),
        configuration_stem=f"{own.base}-{operation(model)}",
        source=dataset.source if spec.sync else None,
        paths=tuple(map(claim_paths.canonical, (listed.paths if listed else None) or ())),
        schedule=spec.schedule,
        time_zone=spec.time_zone,
        suspend=bool(spec.suspend),
        resources=resources(model, context.platform) if spec.resources else None,
        run_after=run_after(model, context),
    )
    return syncs.deleting(task, spec.sync) if spec.sync else task
