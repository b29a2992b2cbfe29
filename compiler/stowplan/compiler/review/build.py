"""The review of a change, made from the output before and after it."""

from collections.abc import Iterator

from stowplan.compiler.diff import environments_wording
from stowplan.compiler.diff.change import Change, Danger, Risk
from stowplan.compiler.diff.environments import different, lags
from stowplan.compiler.diff.wording import summary, title
from stowplan.compiler.output import inventory_lines
from stowplan.compiler.output.inventory_files import is_inventory
from stowplan.compiler.pins.moves import Move, short
from stowplan.compiler.review.figures import figures
from stowplan.compiler.review.graph import graph
from stowplan.compiler.review.model import Hazard, Matrix, MatrixCell, Pin, Review, Row, Secret, Verdict
from stowplan.compiler.review.objects import object_path, objects
from stowplan.compiler.review.runs import run_changes
from stowplan.compiler.review.scene import Scene, Scenes
from stowplan.compiler.review.steps import steps

_Key = tuple[str, str]


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
        steps=steps(scenes, runs),
        matrix=_matrix(scenes),
        hazards=tuple(_hazards(scenes)),
        pins=tuple(map(_pin, scenes.moved)),
        secrets=_secrets(scenes),
        objects=objects(scenes, version),
        base=base,
    )


def _pin(move: Move) -> Pin:
    before, after = (short(each) if each else "" for each in (move.before, move.after))
    return Pin(move.section.value, move.key, before, after, move.about)


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
