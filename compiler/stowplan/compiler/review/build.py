"""The review of a change, made from the output before and after it."""

from collections.abc import Iterator

from stowplan.compiler.diff import environments_wording
from stowplan.compiler.diff.change import Change, Danger, Risk
from stowplan.compiler.diff.environments import different, lags
from stowplan.compiler.diff.wording import summary, title
from stowplan.compiler.pins.moves import Move, short
from stowplan.compiler.review.figures import figures
from stowplan.compiler.review.graph import graph
from stowplan.compiler.review.model import Cell, Hazard, Matrix, Pin, Review, Row, Verdict
from stowplan.compiler.review.objects import object_path, objects
from stowplan.compiler.review.runs import run_changes
from stowplan.compiler.review.scene import Scene, Scenes
from stowplan.compiler.review.secrets import secrets
from stowplan.compiler.review.steps import steps


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
        secrets=secrets(scenes),
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
                Cell(environments_wording.cell(each.cells.get(spec)), behind.get((each.name, spec), ""))
                for each in columns
            ),
        )
        for spec in different(columns)
    ]
    return Matrix(tuple(each.name for each in columns), tuple(rows))
