"""Each changed object with a diff of its file, and with the origins of its changed values."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from stowplan.compiler.diff.change import Action, Change
from stowplan.compiler.diff.groups import Group, grouped
from stowplan.compiler.diff.wording import shown, title
from stowplan.compiler.review.model import ChangedObject, ChangedValue, DiffLine, Side
from stowplan.compiler.review.origins import Origins
from stowplan.compiler.review.scene import Scene, Scenes
from stowplan.schema.diagnostics import dotted
from stowplan.schema.wording import counted

CONTEXT = 3
"""Unchanged lines that are shown before and after a change."""
MOST_LINES = 400
"""Lines of the diff of one object."""
MOST_LEAVES = 40
_HIDDEN = ("Secret",)


def objects(scenes: Scenes, version: str) -> tuple[ChangedObject, ...]:
    """Return the changed objects, the riskiest first; `version` is that of Stowplan.

    Of similar objects the first is shown, and the others are named.
    """
    found = [each for scene in scenes.all for each in _of_scene(scene, version)]
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _of_scene(scene: Scene, version: str) -> Iterator[tuple[tuple[int, int, str, str], ChangedObject]]:
    """Yield each object of an output folder with its rank among all."""
    origins = Origins(scene, version)
    for group in grouped(scene.changes):
        yield group.first.rank, _object(group, scene, origins)


def object_path(scene: Scene, path: str) -> str:
    """Return the path of an object's file below the whole output folder, which names the object in a review."""
    return f"{scene.name}/{path}" if scene.name else path


def _object(group: Group, scene: Scene, origins: Origins) -> ChangedObject:
    change = group.first
    return ChangedObject(
        change.action,
        object_path(scene, change.path),
        title(change),
        change.source,
        scene.name,
        change.risks,
        tuple(_leaves(change, origins)),
        () if change.id.kind in _HIDDEN else tuple(_bounded(_diff(change, scene))),
        tuple(title(each) for each in group.others),
    )


def _diff(change: Change, scene: Scene) -> Iterator[DiffLine]:
    """Yield the lines of the diff of a file, with the lines around each change."""
    if change.action is Action.FOREIGN:
        return
    before, after = (held.get(change.path, b"").decode().splitlines() for held in (scene.files, scene.texts))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    last = 0
    for group in matcher.get_grouped_opcodes(CONTEXT):
        skipped = group[0][3] - last
        if skipped:
            yield DiffLine(Side.GAP, 0, 0, f"{counted(skipped, 'unchanged line')}")
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                for old, new in zip(range(start, end), range(new_start, new_end), strict=True):
                    yield DiffLine(Side.BOTH, old + 1, new + 1, after[new])
                continue
            yield from (DiffLine(Side.BEFORE, old + 1, 0, before[old]) for old in range(start, end))
            yield from (DiffLine(Side.AFTER, 0, new + 1, after[new]) for new in range(new_start, new_end))
        last = group[-1][4]


def _bounded(lines: Iterator[DiffLine]) -> Iterator[DiffLine]:
    found = list(lines)
    yield from found[:MOST_LINES]
    if len(found) > MOST_LINES:
        yield DiffLine(Side.GAP, 0, 0, f"{len(found) - MOST_LINES} more lines are left out here")


def _leaves(change: Change, origins: Origins) -> Iterator[ChangedValue]:
    for field in change.fields[:MOST_LEAVES]:
        yield ChangedValue(dotted(field.path), shown(field.before), shown(field.after), origins.of(change, field))
