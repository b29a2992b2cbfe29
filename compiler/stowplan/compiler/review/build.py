"""The review of a change, made from the output before and after it."""

from collections import Counter
from collections.abc import Iterable, Iterator

from stowplan.compiler.diff import environments_wording
from stowplan.compiler.diff.change import Action, Change, Danger, Risk
from stowplan.compiler.diff.environments import different, lags
from stowplan.compiler.diff.wording import summary, title
from stowplan.compiler.output import inventory_lines
from stowplan.compiler.output.inventory_files import is_inventory
from stowplan.compiler.review.figures import figures
from stowplan.compiler.review.graph import graph
from stowplan.compiler.review.model import (
    Hazard,
    Matrix,
    MatrixCell,
    Review,
    Row,
    RunChange,
    RunFate,
    Secret,
    Step,
    Verdict,
)
from stowplan.compiler.review.objects import object_path, objects
from stowplan.compiler.review.runs import run_changes
from stowplan.compiler.review.scene import Scene, Scenes, cut
from stowplan.compiler.review.scene import runs as runs_of
from stowplan.library.builders import gate
from stowplan.library.manifest import Manifest
from stowplan.schema.kinds.table import DATASET_KINDS, TRAINING_KINDS
from stowplan.schema.meta import SpecId
from stowplan.schema.wording import counted

_Key = tuple[str, str]

ARGO_CD, CLUSTER = "Argo CD", "cluster"
_APPLIED = (Action.CREATED, Action.CHANGED, Action.REPLACED)


def review(scenes: Scenes, base: str, version: str) -> Review:
    """Return the review. `base` says what the change is compared with, and `version` is that of Stowplan."""
    runs = tuple(run for scene in scenes.all for run in run_changes(scene))
    changes = [change for scene in scenes.all for change in scene.changes]
    nodes, edges = graph(scenes)
    return Review(
        summary=summary(changes),
        verdict=Verdict(
            runs,
            data=tuple(_sentences(scenes, Danger.DATA)),
            rights=tuple(_sentences(scenes, Danger.RIGHTS)),
            security=tuple(_sentences(scenes, Danger.SECURITY)),
        ),
        figures=figures(scenes),
        nodes=nodes,
        edges=edges,
        steps=_steps(scenes, runs),
        matrix=_matrix(scenes),
        hazards=tuple(_hazards(scenes)),
        pins=tuple(scenes.moved or ()),
        secrets=_secrets(scenes),
        objects=objects(scenes, version),
        base=base,
    )


def _sentences(scenes: Scenes, danger: Danger) -> Iterator[str]:
    for scene, change, risk in _risks(scenes):
        if risk.danger is danger:
            yield scene.titled(f"{title(change)}: {risk.text}")


def _risks(scenes: Scenes) -> Iterator[tuple[Scene, Change, Risk]]:
    return ((scene, change, risk) for scene in scenes.all for change in scene.changes for risk in change.risks)


def _hazards(scenes: Scenes) -> Iterator[Hazard]:
    """Yield each risk once, the worst first, with all objects that it is about."""
    found: dict[Risk, list[str]] = {}
    for scene, change, risk in _risks(scenes):
        found.setdefault(risk, []).append(object_path(scene, change.path))
    order = tuple(Danger)
    for risk in sorted(found, key=lambda each: (order.index(each.danger), each.text)):
        yield Hazard(risk, tuple(dict.fromkeys(found[risk])))


def _matrix(scenes: Scenes) -> Matrix | None:
    columns = scenes.columns
    if not columns:
        return None
    behind = {(lag.name, spec): f"behind {lag.of}" for lag in lags(columns) for spec in (*lag.older, *lag.missing)}
    rows = [
        Row(
            str(spec),
            tuple(
                MatrixCell(environments_wording.cell(each.cells.get(spec)), behind.get((each.name, spec), ""))
                for each in columns
            ),
        )
        for spec in different(columns)
    ]
    return Matrix(tuple(each.name for each in columns), tuple(rows))


def _secrets(scenes: Scenes) -> tuple[Secret, ...]:
    """Return the Secrets that must be there, the new ones first, then by namespace and name.

    What they contain is never read.
    """
    keys: dict[_Key, set[str]] = {}
    users: dict[_Key, set[str]] = {}
    known: set[_Key] = set()
    defined: set[_Key] = set()
    for scene in scenes.all:
        known |= set(_known(scene))
        defined |= scene.program.secret_keys.keys()
        for output in scene.outputs:
            for each in output.externals:
                if each.kind == "Secret":
                    key = (each.namespace, each.name)
                    keys.setdefault(key, set()).update(each.keys)
                    users.setdefault(key, set()).add(scene.titled(str(output.spec or output.source)))
    found = [
        Secret(*key, tuple(sorted(own)), tuple(sorted(users[key])), key in defined, key not in known)
        for key, own in keys.items()
    ]
    return tuple(sorted(found, key=lambda each: (not each.new, each.namespace, each.name)))


def _known(scene: Scene) -> Iterator[_Key]:
    """Yield namespace and name of each Secret that the inventory before the change lists."""
    for path, content in scene.files.items():
        if is_inventory(path):
            for _, entry in inventory_lines.from_lines(content.splitlines(keepends=True)):
                own = entry.externals if entry else ()
                yield from ((each.namespace, each.name) for each in own if each.kind == "Secret")


def _steps(scenes: Scenes, changed: Iterable[RunChange]) -> tuple[Step, ...]:
    """Return what happens after the merge: the removal of what is gone, each sync wave, and the runs that start."""
    found = [each for scene in scenes.all for each in (*_removed(scene), *_waves(scene))]
    return (*found, *_runs_that_start(scenes, list(changed)))


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


def _runs_that_start(scenes: Scenes, changed: list[RunChange]) -> Iterator[Step]:
    """Yield a step for each kind of work that starts: datasets, tasks, then training, each with what it waits for."""
    waits = {(scene.name, spec): gate.waits(body) for scene in scenes.all for spec, _, body in runs_of(scene.after)}
    starts = [run for run in changed if run.fate is not RunFate.ENDS]
    for heading, mine in (
        ("Datasets are filled and cached", [each for each in starts if each.spec.kind in DATASET_KINDS]),
        ("Tasks and transfers run", [each for each in starts if each.spec.kind not in DATASET_KINDS | TRAINING_KINDS]),
        ("Training runs", [each for each in starts if each.spec.kind in TRAINING_KINDS]),
    ):
        if mine:
            yield Step(heading, tuple(dict.fromkeys(_line(each, waits) for each in mine)), CLUSTER)


def _line(run: RunChange, waits: dict[tuple[str, SpecId], str]) -> str:
    text = waits.get((run.environment, cut(run.spec)), "")
    after = f", once {text} is ready" if text and run.part == "training" else ""
    return f"{run.part} of {run.owner}{after}"
