"""From DataCube to Dataset, for a copy to a claim, or to DatasetTask, for a copy of a dataset to elsewhere."""

from collections.abc import Iterator

from stowplan.compiler.migrate.native.kinds import options
from stowplan.compiler.migrate.native.plan import MigrationPlan, Move, Omit, Step, Write, moves, path
from stowplan.compiler.migrate.native.scope import Scope, claim_of, directory
from stowplan.compiler.model import Spec
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.kinds.data_cube import ClaimReference, DataCube, ExecutorOptions
from stowplan.schema.meta import SpecId

_TO_REFRESH = moves(("spec.schedule", "spec.refresh.schedule"), ("spec.timeZone", "spec.refresh.timeZone"))
_TO_TASK = moves(("spec.schedule", "spec.schedule"), ("spec.timeZone", "spec.timeZone"))
_OPTIONS = "spec.executor.options"
_SYNC, _MAX_DELETE = path(f"{_OPTIONS}.sync"), path(f"{_OPTIONS}.maxDelete")
_REASONS = (
    (path("spec.executor.env"), "the agent of a native kind has no variables of yours"),
    (path(_OPTIONS), "native kinds have no settings of the transfer itself"),
    (path("spec.executor"), "native kinds have no settings of the pod that copies"),
    (path("spec.source.caBundle"), "native kinds have no certificates of their own"),
    (path("spec.sink.caBundle"), "native kinds have no certificates of their own"),
    (path("spec.source.pvc"), "a DatasetTask mounts its dataset as it is"),
)


def plan(model: DataCube, spec: Spec, scope: Scope) -> MigrationPlan:
    """Return the plan for the DataCube `spec` with the model `model`: to a Dataset if its sink is the claim.

    If its source is the claim, the plan is to a DatasetTask of the spec in `scope` that has the data. Unless exactly
    one side is a claim, the plan has no steps, and SP427 in `refused`.
    """
    source, sink = model.spec.source, model.spec.sink
    if (source.type == "pvc") == (sink.type == "pvc"):
        found = finding("SP427", path("spec.sink.type"), "Not exactly one side is a claim.", "Correct it first.")
        return MigrationPlan("Dataset", (), refused=(found,))
    return _to_claim(spec, model, scope) if sink.type == "pvc" else _from_claim(spec, model, scope)


def _to_claim(spec: Spec, model: DataCube, scope: Scope) -> MigrationPlan:
    side, executor = path("spec.source"), model.spec.executor
    given = (executor.options if executor else None) or ExecutorOptions()
    steps = [
        *options.steps(model.spec.source, side, path(f"spec.source.{model.spec.source.type}")),
        Omit(path("spec.sink.type")),
        *_claim(spec, model.spec.sink.pvc or ClaimReference()),
        *_TO_REFRESH,
        *_deletes(given),
    ]
    refused = [*options.refused(model.spec.source, side), *_mirror(model, given), *_shared(spec, scope)]
    if model.spec.sink.options:
        refused.append(finding("SP427", path("spec.sink.options"), "A claim has no options.", "Remove them."))
    change = "The copy is a new run, which copies what differs, and is tried again if it fails."
    if model.spec.source.type == "git":
        change += " Only the newest commit comes, without its history."
    if model.spec.schedule:
        change += " It copies at once too, not only by its schedule."
    return MigrationPlan("Dataset", tuple(steps), _REASONS, tuple(refused), change=change)


def _shared(spec: Spec, scope: Scope) -> Iterator[Finding]:
    """Yield a finding if another spec has the directory that the cube writes to, or a part of it."""
    own = claim_of(spec)
    for kind in ("Dataset", "SampleSet", "DataCube"):
        for each in scope.of_kind(kind, spec.id.namespace):
            other = claim_of(each)
            if not own or not other or each.id == spec.id or own[0] != other[0]:
                continue
            if _within(own[1], other[1]) is not None or _within(other[1], own[1]) is not None:
                message = f"{each.id} has this directory of the claim too; two Datasets cannot share one."
                hint = "Write one Dataset with this source and that volume, or leave the DataCube as it is."
                yield finding("SP427", path("spec.sink.pvc"), message, hint)
                return


def _claim(spec: Spec, claim: ClaimReference) -> Iterator[Step]:
    """Yield the steps for the claim, at the directory that it has now."""
    if claim.template:
        yield Omit(path("spec.sink.pvc.name"))
        yield Move(path("spec.sink.pvc.template"), path("spec.volume.claim.template"))
        if claim.name != spec.id.name:
            yield Write(path("spec.volume.claim.template.metadata.name"), claim.name)
    else:
        yield Move(path("spec.sink.pvc.name"), path("spec.volume.claim.name"))
    yield Write(path("spec.volume.claim.subPath"), directory(claim.sub_path) or "/", path("spec.sink.pvc.subPath"))
    yield Omit(path("spec.sink.pvc.readOnly"), "only a source is mounted read-only")


def _deletes(given: ExecutorOptions) -> Iterator[Step]:
    if given.sync:
        yield Write(path("spec.refresh.delete"), value=True, old=_SYNC)
        yield Move(_MAX_DELETE, path("spec.refresh.maxDelete"))
    else:
        yield Omit(_SYNC)
        yield Omit(_MAX_DELETE, "it has no effect without `sync`")


def _mirror(model: DataCube, given: ExecutorOptions) -> Iterator[Finding]:
    """Yield a finding about a cube that deletes in the claim, unless a refresh can do the same."""
    if not given.sync:
        return
    if not model.spec.schedule:
        message = "The first copy of a Dataset deletes nothing; only a refresh by a schedule does."
        yield finding("SP427", _SYNC, message, "Leave the DataCube as it is, or give it a schedule.")
    elif given.max_delete is None:
        message = "The cube may delete any number of files, a refresh at most `maxDelete`."
        yield finding("SP427", _SYNC, message, "Give `maxDelete` beside it.")


def _from_claim(spec: Spec, model: DataCube, scope: Scope) -> MigrationPlan:
    side, claim = path("spec.sink"), model.spec.source.pvc or ClaimReference()
    below = directory(claim.sub_path)
    found = _holder(spec, claim.name or "", below, scope)
    refused = list(options.refused(model.spec.sink, side))
    if found is None:
        message = f"No Dataset has the claim {claim.name} at /{below}, and a DatasetTask copies what a Dataset has."
        hint = "Write a Dataset with this claim and without a source, or leave the DataCube as it is."
        refused.append(finding("SP427", path("spec.source.pvc"), message, hint))
    if model.spec.sink.type == "git":
        message = "The cube pushes a directory of the claim that is named after the repository."
        refused.append(finding("SP427", path("spec.sink.type"), message, "Leave the DataCube as it is."))
    holder, inner = found or (spec.id, "")
    inside = path("spec.copy.subPath")
    steps: list[Step] = [
        Write(path("spec.datasetRef.name"), holder.name, path("spec.source.pvc.name")),
        Write(inside, inner, path("spec.source.pvc.subPath")) if inner else Omit(path("spec.source.pvc.subPath")),
        Omit(path("spec.source.type")),
        Move(path("spec.source.pvc.links"), path("spec.copy.links")),
        *options.steps(model.spec.sink, side, path(f"spec.copy.to.{model.spec.sink.type}")),
        *_TO_TASK,
        Omit(_SYNC),
        *moves(("spec.executor.resources", "spec.resources")),
    ]
    needs = (holder, path("spec.source.pvc.name")) if found and holder.kind != "Dataset" else None
    return MigrationPlan("DatasetTask", tuple(steps), _REASONS, tuple(refused), needs, "The copy is a new run.")


def _holder(spec: Spec, claim: str, below: str, scope: Scope) -> tuple[SpecId, str] | None:
    """Return the spec that is or becomes the Dataset with this part of a claim, and the place in it."""
    for kind in ("Dataset", "SampleSet", "DataCube"):
        for each in scope.of_kind(kind, spec.id.namespace):
            place = claim_of(each)
            inner = _within(below, place[1]) if place and place[0] == claim else None
            if inner is not None:
                return each.id, inner
    return None


def _within(below: str, base: str) -> str | None:
    """Return the directory `below` as seen from `base`; None if it lies elsewhere. Both are as `directory` returns."""
    if not base or below == base:
        return below if not base else ""
    return below.removeprefix(f"{base}/") if below.startswith(f"{base}/") else None
