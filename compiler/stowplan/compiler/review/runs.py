"""Which runs a change starts, ends and replaces."""

from collections.abc import Iterator, Sequence

from stowplan.compiler.diff.change import Action, Change, Danger
from stowplan.compiler.diff.risks.lineages import lineage_of
from stowplan.compiler.diff.wording import field_line, title
from stowplan.compiler.kubernetes.fields import annotation, identity
from stowplan.compiler.review.figures import accelerators
from stowplan.compiler.review.model import RunChange, RunFate, SourceLine
from stowplan.compiler.review.scene import Objects, Scene, component, cut, runs, specs
from stowplan.library.manifest import Json
from stowplan.library.values import labels
from stowplan.schema.kinds.table import KINDS, TRAINING_KINDS
from stowplan.schema.meta import ObjectId, SpecId
from stowplan.schema.wording import counted

MOST_REASONS = 4
_FATES = {(True, True): RunFate.REPLACED, (True, False): RunFate.ENDS, (False, True): RunFate.STARTS}
_ORDER = tuple(RunFate)


def run_changes(scene: Scene) -> list[RunChange]:
    """Return the runs that the change of one output folder starts, ends or replaces, those that end first."""
    before, after = _parts(scene.before), _parts(scene.after)
    changes = _by_spec(scene)
    found = []
    for key in sorted(before.keys() | after.keys()):
        old, new = before.get(key, {}), after.get(key, {})
        gone, come = old.keys() - new.keys(), new.keys() - old.keys()
        if gone or come:
            spec, part = key
            own = changes.get(spec, ())
            effects = [*_of_training(spec, part, [old[each] for each in gone], [new[each] for each in come])]
            effects += _risks(own, part, scene, named=bool(gone and come))
            found.append(
                RunChange(
                    _FATES[bool(gone), bool(come)],
                    *spec_name(scene, spec),
                    part_title(spec, part),
                    tuple(_bounded(list(_reasons(own)), "field")),
                    tuple(_bounded(list(dict.fromkeys(effects)), "effect")),
                    scene.name,
                )
            )
    return sorted(found, key=lambda run: (_ORDER.index(run.fate), run.spec))


def part_title(spec: SpecId, part: str) -> str:
    """Return what people call a part of a spec that runs, such as `training`; `part` is as `component` returns it."""
    if spec.kind in TRAINING_KINDS:
        return "copy of outputs" if part == "output" else "training"
    return "transfer" if part in ("copy", "transfer") else part


def spec_name(scene: Scene, spec: SpecId) -> tuple[SpecId, SourceLine]:
    """Return a spec, given as from `cut`, with its whole name and the place of its document.

    Of a spec that the change removed, the name stays cut and the place is its file alone.
    """
    for each in scene.program.specs:
        if cut(each.id) == spec:
            found = each.document.locate(())
            return each.id, SourceLine(found.file, found.line)
    for own in (scene.after, scene.before):
        if held := specs(own).get(spec):
            return spec, SourceLine(annotation(held[1], labels.SOURCE))
    return spec, SourceLine("")


def _of_training(spec: SpecId, part: str, gone: Sequence[Json], come: Sequence[Json]) -> Iterator[str]:
    """Yield what a training run asks for or frees, and whether it begins anew in the place of another."""
    if spec.kind not in TRAINING_KINDS:
        return
    found, hours = accelerators(come or gone)
    if found:
        yield f"It asks for {found}, {hours}." if come else f"It frees {found}."
    if gone and come and part != "output" and not any(map(lineage_of, gone)):
        yield "It begins anew, unless its program keeps checkpoints of its own."


def _parts(objects: Objects) -> dict[tuple[SpecId, str], dict[ObjectId, Json]]:
    """Return the runs of each part of each spec: the sync of a dataset is another run than its warmup."""
    found: dict[tuple[SpecId, str], dict[ObjectId, Json]] = {}
    for spec, _, body in runs(objects):
        found.setdefault((spec, component(body)), {})[identity(body)] = body
    return found


def _by_spec(scene: Scene) -> dict[SpecId, list[Change]]:
    found: dict[SpecId, list[Change]] = {}
    known = {path: spec for own in (scene.before, scene.after) for spec, (path, _) in specs(own).items()}
    folders = {path.rpartition("/")[0]: spec for path, spec in known.items()}
    for change in scene.changes:
        if spec := folders.get(change.path.rpartition("/")[0]):
            found.setdefault(spec, []).append(change)
    return found


def _reasons(changes: Sequence[Change]) -> Iterator[str]:
    """Yield why a run starts or ends: the changed fields of its spec."""
    for change in changes:
        if change.id.kind not in KINDS:
            continue
        if change.action is Action.CREATED:
            yield "The spec is new."
        elif change.action is Action.REMOVED:
            yield "The spec is removed."
        else:
            yield from (field_line(field) for field in change.fields if field.path[:1] == ("spec",))


def _risks(changes: Sequence[Change], part: str, scene: Scene, *, named: bool) -> Iterator[str]:
    """Yield what the risks of a run's Jobs say of it. `named` is whether new Jobs are named, beside those replaced."""
    for change in changes:
        body = scene.after.get(change.path) or scene.before.get(change.path) or {}
        if component(body) == part:
            whose = f"{title(change)}: " if named and change.action is Action.CREATED else ""
            yield from (f"{whose}{risk.text}" for risk in change.risks if risk.danger is Danger.RUN)


def _bounded(texts: Sequence[str], what: str) -> Iterator[str]:
    yield from texts[:MOST_REASONS]
    if len(texts) > MOST_REASONS:
        yield f"and {counted(len(texts) - MOST_REASONS, f'more {what}')}"
