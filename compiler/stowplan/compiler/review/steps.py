"""What happens after the merge, in order: Argo CD's sync waves, and then what agents and jobs do in the cluster."""

from collections import Counter
from collections.abc import Iterable, Iterator

from stowplan.compiler.diff.change import Action
from stowplan.compiler.review.model import RunChange, RunFate, Step
from stowplan.compiler.review.scene import Scene, Scenes, runs
from stowplan.library.builders import gate
from stowplan.library.manifest import Manifest
from stowplan.schema.kinds.table import DATASET_KINDS, TRAINING_KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.wording import counted

ARGO_CD, CLUSTER = "Argo CD", "cluster"
_APPLIED = (Action.CREATED, Action.CHANGED, Action.REPLACED)


def steps(scenes: Scenes, changed: Iterable[RunChange]) -> tuple[Step, ...]:
    """Return the steps of a change: the removal of what is gone, each sync wave, and the runs that start then."""
    found = [each for scene in scenes.all for each in (*_removed(scene), *_waves(scene))]
    return (*found, *_runs(scenes, list(changed)))


def _removed(scene: Scene) -> Iterator[Step]:
    gone = [each.old or each.id for each in scene.changes if each.action in (Action.REMOVED, Action.REPLACED)]
    if gone:
        kinds = _counts(each.kind for each in gone)
        yield Step(scene.titled(f"Removes {counted(len(gone), 'object')}"), (kinds,), ARGO_CD)


def _waves(scene: Scene) -> Iterator[Step]:
    applied = [
        scene.places[each.path] for each in scene.changes if each.action in _APPLIED and each.path in scene.places
    ]
    waves: dict[int, list[Manifest]] = {}
    for output in applied:
        waves.setdefault(output.manifest.wave, []).append(output.manifest)
    for wave, manifests in sorted(waves.items()):
        title = f"Wave {wave}: applies {counted(len(manifests), 'object')}"
        yield Step(scene.titled(title), (_counts(each.kind for each in manifests),), ARGO_CD)


def _counts(kinds: Iterable[str]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(Counter(kinds).items()))


def _runs(scenes: Scenes, changed: list[RunChange]) -> Iterator[Step]:
    """Yield a step for each kind of work that starts: datasets, tasks, then training, each with what it waits for."""
    waits = {(scene.name, spec): gate.waits(body) for scene in scenes.all for spec, _, body in runs(scene.after)}
    starts = [run for run in changed if run.fate is not RunFate.ENDS]
    for title, mine in (
        ("Datasets are filled and cached", [each for each in starts if each.spec.kind in DATASET_KINDS]),
        ("Tasks and transfers run", [each for each in starts if each.spec.kind not in DATASET_KINDS | TRAINING_KINDS]),
        ("Training runs", [each for each in starts if each.spec.kind in TRAINING_KINDS]),
    ):
        if mine:
            yield Step(title, tuple(dict.fromkeys(_line(each, waits) for each in mine)), CLUSTER)


def _line(run: RunChange, waits: dict[tuple[str, SpecId], str]) -> str:
    spec = run.spec
    text = waits.get((run.environment, SpecId(spec.kind, spec.namespace, spec.name)), "")
    after = f", once {text} is ready" if text and run.part == "training" else ""
    return f"{run.part} of {run.owner}{after}"
