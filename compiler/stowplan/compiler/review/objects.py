"""Each changed object with a diff of its file, and with the origins of its changed values."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from stowplan.compiler.diff.change import Action, Change
from stowplan.compiler.diff.fields import Field
from stowplan.compiler.diff.groups import Group, grouped
from stowplan.compiler.diff.wording import shown, title
from stowplan.compiler.provenance.leaves import INSIDE, leaves
from stowplan.compiler.provenance.source_map import ExplainedLeaf, SourceMap, ValueOrigin
from stowplan.compiler.review.model import DiffLine, Leaf, Object, Origin, Place, Side
from stowplan.compiler.review.scene import Scene, Scenes
from stowplan.schema.diagnostics import FieldPath, dotted
from stowplan.schema.meta import SpecId
from stowplan.schema.wording import counted

CONTEXT = 3
"""Unchanged lines that are shown before and after a change."""
MOST_LINES = 400
"""Lines of the diff of one object."""
MOST_LEAVES = 40
MOST_ORIGINS = 3
MOST_SPECS = 12
"""Specs of which the origins of values are searched: each must be compiled many times for it."""
_HIDDEN = ("Secret",)

_Entries = Mapping[FieldPath, Sequence[ExplainedLeaf]]


def objects(scenes: Scenes, version: str) -> tuple[Object, ...]:
    """Return the changed objects, the riskiest first; `version` is that of Stowplan.

    Of similar objects the first is shown, and the others are named.
    """
    found = [each for scene in scenes.all for each in _of_scene(scene, version)]
    return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))


def _of_scene(scene: Scene, version: str) -> Iterator[tuple[tuple[int, int, str, str], Object]]:
    """Yield each object of an output folder with its rank among all."""
    origins = _Origins(scene, version)
    for group in grouped(scene.changes):
        yield group.first.rank, _object(group, scene, origins)


def object_path(scene: Scene, path: str) -> str:
    """Return the path of an object's file below the whole output folder, which names the object in a review."""
    return f"{scene.name}/{path}" if scene.name else path


def _object(group: Group, scene: Scene, origins: "_Origins") -> Object:
    change = group.first
    return Object(
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


def _leaves(change: Change, origins: "_Origins") -> Iterator[Leaf]:
    entries = origins.of(change) if change.fields else {}
    for field in change.fields[:MOST_LEAVES]:
        found = _origins_of(field, entries)
        yield Leaf(dotted(field.path), shown(field.before), shown(field.after), tuple(found)[:MOST_ORIGINS])


def _origins_of(field: Field, entries: _Entries) -> list[Origin]:
    """Return the origins of a changed field, or of all leaves below it."""
    path = tuple(map(str, field.path))
    own = [each for place, held in entries.items() if place[: len(path)] == path for each in held]
    found = [_origin(each) for entry in own for each in entry.origins]
    found += [Origin(rule.text, None) for entry in own for rule in entry.rules]
    return list(dict.fromkeys(found))


def _origin(origin: ValueOrigin) -> Origin:
    name = dotted(origin.path)
    if origin.default:
        return Origin(f"the default of {name}", None)
    return Origin(f"{origin.how} {name}", Place(origin.location.file, origin.location.line))


class _Origins:
    """The origins of values in one output folder, searched for at most `MOST_SPECS` specs."""

    def __init__(self, scene: Scene, version: str) -> None:
        self._scene = scene
        self._map = SourceMap(scene.program, scene.outputs, version)
        self._studied: set[SpecId] = set()

    def of(self, change: Change) -> _Entries:
        """Return the explained leaves of a changed object, by their places without indices; empty if not searched."""
        output = self._scene.places.get(change.path)
        if output is None or output.spec is None or output.reused:
            return {}
        if output.spec not in self._studied:
            if len(self._studied) == MOST_SPECS:
                return {}
            self._studied.add(output.spec)
        found: dict[FieldPath, list[ExplainedLeaf]] = {}
        places = leaves(output.manifest.body)
        for place, entry in zip(places, self._map.entries(output), strict=True):
            key = tuple(str(part).removeprefix("=") for part in place if part != INSIDE)
            found.setdefault(key, []).append(entry)
        return found
