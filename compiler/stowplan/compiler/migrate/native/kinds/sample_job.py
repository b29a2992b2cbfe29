"""From SampleJob to DatasetTask."""

from collections.abc import Iterator

from stowplan.compiler.migrate.native.plan import MigrationPlan, Move, Omit, Step, Write, moves, path
from stowplan.compiler.migrate.native.scope import Scope
from stowplan.compiler.model import Spec
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.juicefs.options import Fate
from stowplan.schema.juicefs.sync_options import SYNC_OPTIONS
from stowplan.schema.kinds.sample_job import SampleJob, TaskType
from stowplan.schema.kinds.sample_set import SampleSet
from stowplan.schema.meta import SpecId

_OPERATIONS: dict[TaskType, str] = {"sync": "sync", "warmup": "warmup", "rmr": "remove", "clear": "evict"}
_ALWAYS = moves(
    ("spec.schedule", "spec.schedule"),
    ("spec.timeZone", "spec.timeZone"),
    ("spec.terminate", "spec.suspend"),
)
_REASONS = (
    (path("spec.syncOptions"), "a DatasetTask has no options of `juicefs sync`"),
    (path("spec.warmupOptions.file"), "a DatasetTask lists its paths itself"),
    (path("spec.warmupOptions.threads"), "a DatasetTask has no number of threads"),
    (path("spec.warmupOptions.strategyName"), "a DatasetTask deals out files in turn"),
)


def plan(model: SampleJob, spec: Spec, scope: Scope) -> MigrationPlan:
    """Return the plan for the SampleJob `spec` with the model `model`; its SampleSet is looked up in `scope`."""
    reference = model.spec.sample_set_ref
    name = (reference.name if reference else None) or ""
    found = scope.find("SampleSet", spec.id.namespace, name)
    refused = list(_refused(spec, model, found.model if found and isinstance(found.model, SampleSet) else None))
    return MigrationPlan(
        "DatasetTask",
        (
            Move(path("spec.sampleSetRef"), path("spec.datasetRef")),
            *_operation(model),
            *_ALWAYS,
        ),
        reasons=_REASONS,
        refused=tuple(refused),
        needs=(SpecId("SampleSet", spec.id.namespace, name), path("spec.sampleSetRef.name")),
        change="The task is a new run.",
    )


def _operation(model: SampleJob) -> Iterator[Step]:
    kind = model.spec.type or "sync"
    new = path(f"spec.{_OPERATIONS[kind]}")
    options = model.spec.warmup_options if kind == "warmup" else model.spec.rmr_options if kind == "rmr" else None
    if options and options.paths:
        own = path(f"spec.{kind}Options.paths")
        yield Move(own, (*new, "paths"))
        yield Omit(path("spec.type"))
    else:
        yield Write(new, {}, path("spec.type"))
    yield from _without_effect(model, kind)


def _without_effect(model: SampleJob, kind: TaskType) -> Iterator[Step]:
    for other in ("sync", "warmup", "rmr", "clear"):
        if other != kind:
            yield Omit(path(f"spec.{other}Options"), "it belongs to another type of task")
    if kind == "sync":
        yield Omit(path("spec.syncOptions.source"))
        for key, option in SYNC_OPTIONS.items():
            if option.fate is Fate.REMOVED:
                yield Omit(path(f"spec.syncOptions.{key}"), "it has no effect")
        yield Omit(path("spec.secretRef"))
    else:
        yield Omit(path("spec.secretRef"), "only a sync reads it")
        yield Omit(path("spec.clearOptions.paths"), "the caches are emptied as a whole")
        yield Omit(path("spec.warmupOptions.partitions"), "it has no effect")
    if model.spec.warmup_options and model.spec.warmup_options.strategy_name == "sequence":
        yield Omit(path("spec.warmupOptions.strategyName"))


def _refused(spec: Spec, model: SampleJob, dataset: SampleSet | None) -> Iterator[Finding]:
    """Yield a finding if a sync copies from elsewhere than the source of its SampleSet, to which a Dataset is bound."""
    if model.spec.type is None:
        yield finding("SP427", path("spec.type"), "`type` is missing.", "Choose one of sync, warmup, rmr and clear.")
        return
    if model.spec.type != "sync" or dataset is None:
        return
    options, given = model.spec.sync_options, dataset.spec.source
    own = given.uri if given and not dataset.spec.no_sync else None
    source = options.source if options else None
    if (source or "").rstrip("/") != (own or "").rstrip("/") or not own:
        theirs = f"from {own}" if own else "nothing"
        message = f"The task copies from {source or 'nowhere'}. A DatasetTask copies what its Dataset does: {theirs}."
        hint = "Leave the SampleJob as it is, or make its source that of the SampleSet."
        yield finding("SP427", path("spec.syncOptions.source"), message, hint)
        return
    volume, secret = dataset.spec.secret_ref, given.secret_ref if given else None
    wanted = (secret and secret.name) or (volume and volume.name)
    named = model.spec.secret_ref.name if model.spec.secret_ref else None
    elsewhere = model.spec.secret_ref.namespace if model.spec.secret_ref else None
    if named != wanted or (elsewhere or spec.id.namespace) != spec.id.namespace:
        message = f"The task uses Secret {named}; a DatasetTask uses that of the source of its Dataset, {wanted}."
        yield finding("SP427", path("spec.secretRef"), message, f"Use {wanted} here too, if it has the same keys.")
