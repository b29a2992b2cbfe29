"""How a training job waits for datasets and other specs: closed until they are ready, or with pods that wait."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from stowplan.library.builders.gate import is_gate
from stowplan.library.builders.pods import wait_container
from stowplan.library.dialects.shared import run_order
from stowplan.library.dialects.shared.context import Context, Lowered
from stowplan.library.ir.data import CachedDataset
from stowplan.library.ir.gate import Gate, Wait
from stowplan.library.ir.training import DatasetMount
from stowplan.library.manifest import Manifest, Unit
from stowplan.library.values.labels import COMPONENT, OUTPUT
from stowplan.library.values.names import HASH_LENGTH
from stowplan.schema.agents.gate_config import ReadyCondition, digest
from stowplan.schema.agents.wait_config import DEFAULT_TIMEOUT, SECOND_LOOK, Until, WaitConfig
from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, Severity, finding
from stowplan.schema.kinds.custom_resource import CustomResource
from stowplan.schema.kinds.table import DATASET_KINDS, TASK_KINDS
from stowplan.schema.meta import AFTER_ANNOTATION, SpecId
from stowplan.schema.platform.platform import Platform

Model = TypeVar("Model", bound=CustomResource)
Lower = Callable[[Model, Context], Lowered]
"""Lowers one spec, as the dialect of its kind does."""

_FIRST_KUEUE = (0, 19)
"""First version of Kueue whose admission gates are on by default (feature `AdmissionGatedBy`)."""


class GivenWait(Protocol):
    """The field `wait` of a dataset in the spec of a job."""

    @property
    def until(self) -> Until | None:
        """Return what to wait for; None for the default."""
        ...

    @property
    def timeout_seconds(self) -> int | None:
        """Return the seconds after which the job fails; None for the default."""
        ...


def of_spec(model: Model, lower: Lower[Model], context: Context) -> Wait:
    """Return what a gate reads of a spec. `lower` is called once: `context.waits` and, for `own`, `lowered` keep it."""
    spec = context.id(model)
    if spec not in context.waits:
        made = lower(model, context)
        context.waits[spec] = of_unit(made.unit)
        if spec.kind in DATASET_KINDS:
            context.lowered[spec] = made
    return context.waits[spec]


def own(model: Model, lower: Lower[Model], context: Context) -> Lowered:
    """Return what a dataset compiles to: by `lower`, or once from `context.lowered`, if `of_spec` has put it there."""
    spec = context.id(model)
    if context.datasets.get(spec) is not model:
        return lower(model, context)
    made = context.lowered.pop(spec, None) or lower(model, context)
    context.waits.setdefault(spec, of_unit(made.unit))
    return made


def of_unit(unit: Unit) -> Wait:
    """Return what a gate reads of a spec that compiles to `unit`. Run and digest are empty if the spec has errors.

    The run is named by the first Job by which the spec is done: that of its sync if it is a dataset.
    """
    kind = unit.spec.kind
    starting = (each for each in unit.manifests if each.run and each.kind in ("Job", "JobSet"))
    runs = (each.name[-HASH_LENGTH:] for each in starting if _decides(each, kind))
    resources = (digest(each.body) for each in unit.manifests if each.kind == kind)
    condition: ReadyCondition = "Ready" if kind in DATASET_KINDS else "Complete"
    return Wait(unit.spec, condition, next(runs, ""), next(resources, ""))


def _decides(work: Manifest, kind: str) -> bool:
    own = work.body["metadata"]["labels"]
    if is_gate(work.body) or OUTPUT in own:
        return False
    return kind not in DATASET_KINDS or own[COMPONENT] == "sync"


def waiting(
    mount: DatasetMount, given: GivenWait, dataset: CachedDataset, wait: Wait, context: Context, *, number: int = 0
) -> DatasetMount:
    """Return a copy of the mount whose field `wait` is the init container that waits for the dataset.

    If a gate can wait for it too, the copy also has `until` and `timeout`; the pods then look once more, as a dataset
    may be copied anew between the two. `given` is the user's field `wait` of the dataset, `wait` what a gate reads of
    it, and `number`, from 0, that of the dataset among those that are waited for: it makes the container's name unique.
    """
    until, name = given.until or step(dataset), dataset.names.name
    closed = _closable(dataset, until) and kueue_gates(context.platform)
    config = WaitConfig(
        dataset=name,
        path=wait_container.path(name),
        until=until,
        revision=wait.revision,
        timeout=SECOND_LOOK if closed else given.timeout_seconds or DEFAULT_TIMEOUT,
        retry=closed,
    )
    init = wait_container.container(mount.volume, config, context.site, sub_path=mount.sub_path, number=number)
    if not closed:
        return replace(mount, wait=init)
    read = wait._replace(condition="Warmed") if until == "warmed" else wait
    return replace(mount, wait=init, until=read, timeout=given.timeout_seconds)


def gate(mounts: Sequence[DatasetMount], context: Context) -> Gate | None:
    """Return what a run with these mounts waits for if it is compiled closed, else None.

    These are datasets, and then what the job runs after (`context.awaited`), which has no time limit. The limit of the
    run is the longest of all; None if one has none.
    """
    closed = [(mount.until, mount.timeout) for mount in mounts if mount.until]
    closed += [(wait, None) for wait in context.awaited.values()]
    if not closed:
        return None
    limits = [timeout for _, timeout in closed if timeout is not None]
    timeout = max(limits) if len(limits) == len(closed) else None
    waits: dict[SpecId, Wait] = {}
    # Where two mounts wait for one dataset, the gate reads for the one that names a revision; the pods look for both.
    for wait, _ in sorted(closed, key=lambda each: each[0].revision is None):
        waits.setdefault(wait.spec, wait)
    return Gate(tuple(waits.values()), timeout, context.platform.engines.gang == "kueue")


def step(dataset: CachedDataset) -> Until:
    """Return the default of `until`: `synced`, or `mounted` for a dataset without a sync of its own."""
    return "synced" if dataset.source else "mounted"


def findings(given: GivenWait, dataset: CachedDataset, path: FieldPath, platform: Platform) -> Iterator[Finding]:
    """Yield findings about the field `wait` at `path`: what the dataset never is, and what the platform lacks."""
    yield from _steps(given, dataset, (*path, "until"))
    if not _closable(dataset, given.until or step(dataset)):
        return
    if not kueue_gates(platform):
        message = (
            "Pods of the job wait themselves, and reserve their quota meanwhile: Kueue has no admission gates here."
            " From 0.19 on it also evicts pods that are not ready after 30 minutes."
        )
        hint = (
            "With Kueue 0.19 or later set `engines.kueueVersion` and `engines.kueueAdmissionGates: true`; else raise"
            " `waitForPodsReady` of Kueue."
        )
        yield finding("SP701", path, message, hint, anchor=Anchor.KEY)
    elif not platform.reporter:
        message = "The platform has no reporter, by whose reports a gate would know that the dataset is ready."
        hint = "Remove `reporter: false` from the platform file, or `wait` here."
        yield finding("SP702", path, message, hint, anchor=Anchor.KEY)


def _steps(given: GivenWait, dataset: CachedDataset, path: FieldPath) -> Iterator[Finding]:
    """Yield a finding if a job waits for a step, `synced` or `warmed`, that the dataset does not take itself."""
    name, kind = dataset.names.name, dataset.origin.spec.kind
    if given.until == "warmed" and not dataset.warmed:
        message = f"No warmup follows a sync of {name}, so the pods would wait in vain."
        if dataset.warms:
            message = f"{name} copies nothing itself, so the pods wait in vain unless a {TASK_KINDS[kind]} syncs it."
        hint = f"Wait until `{step(dataset)}`, or let the dataset be warmed after its sync."
        yield finding("SP454", path, message, hint)
    elif given.until == "synced" and not dataset.source:
        message = f"{name} copies nothing itself, so the pods wait for whatever else syncs its volume."
        hint = f"Nothing to do where a {TASK_KINDS[kind]} or another {kind} does; else wait until `mounted`."
        yield finding("SP454", path, message, hint, severity=Severity.INFO)


def _closable(dataset: CachedDataset, until: Until) -> bool:
    """Return whether the status of the dataset says when it is ready. Of a mere mount only its pods know."""
    return dataset.source is not None and (until == "synced" or (until == "warmed" and dataset.warmed))


def kueue_gates(platform: Platform) -> bool:
    """Return whether a run can be closed: always without Kueue, with it only by its admission gates."""
    engines = platform.engines
    if engines.gang != "kueue":
        return True
    version = tuple(int(part) for part in engines.kueue_version.split(".")[:2])
    return version >= _FIRST_KUEUE and engines.kueue_admission_gates


def order_findings(model: CustomResource, platform: Platform) -> Iterator[Finding]:
    """Yield findings about `runAfter` of a job, or its annotation: its form, and who opens the job."""
    notes, annotated = model.metadata.annotations, model.AFTER == run_order.ANNOTATION
    yield from (run_order.annotation_findings if annotated else run_order.no_annotation)(notes)
    if AFTER_ANNOTATION in notes if annotated else run_order.of_model(model, ""):
        yield from _opened(model.AFTER, platform)


def _opened(path: FieldPath, platform: Platform) -> Iterator[Finding]:
    """Yield a finding if the job cannot be closed, or nothing could open it."""
    if not kueue_gates(platform):
        message = "Kueue has no admission gates here, so it would start the job at once."
        hint = (
            "With Kueue 0.19 or later set `engines.kueueVersion` and `engines.kueueAdmissionGates: true`; else add the"
            " job once the others are done."
        )
        yield finding("SP759", path, message, hint, anchor=Anchor.KEY)
    elif not platform.reporter:
        message = "The platform has no reporter, by whose reports a gate would know that the others are done."
        hint = "Remove `reporter: false` from the platform file, or add the job once the others are done."
        yield finding("SP702", path, message, hint, anchor=Anchor.KEY)
