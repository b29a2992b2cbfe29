"""Would any wave of a sync wait, or come too early?"""

from collections.abc import Iterator, Sequence

from stowplan.compiler.checks.object_finding import ObjectFinding, about, milder
from stowplan.compiler.checks.objects import Object, Objects
from stowplan.compiler.sync_plan import Hold, plan
from stowplan.library import labels
from stowplan.schema.diagnostics import FieldPath

_WAVE: FieldPath = ("metadata", "annotations", labels.SYNC_WAVE)


def check(objects: Objects) -> list[ObjectFinding]:
    """Only kinds without health stand before the last wave of their Application; nothing before what it needs.

    A sync waits for each wave but the last, without a limit, and meanwhile no other commit is synced.
    """
    found: list[ObjectFinding] = []
    held = {id(hold.task.body) for members in objects.applications.values() for hold in _holds(members)}
    for obj in objects:
        # What comes too early has to move anyway, so it is not said that it also holds the sync.
        early = list(_too_early(obj, objects))
        found += early or ([_waiting(obj, objects.last(obj))] if id(obj.body) in held else [])
    return found


def _holds(members: Sequence[Object]) -> Iterator[Hold]:
    """Where the sync of an Application waits for an object before its next step."""
    yield from (hold for hold in plan(obj.body for obj in members).holds if hold.next_step)


def _waiting(obj: Object, last: Object) -> ObjectFinding:
    later = f"{last.id} is in wave {last.wave}"
    if obj.kind == ("", "PersistentVolumeClaim"):
        message = (
            f"The claim is in wave {obj.wave}, but {later}: one that is bound with its first pod would wait for ever."
        )
        code = "SP523"
    else:
        message = f"The object is in wave {obj.wave}, but {later}: the sync would wait until this one is healthy."
        code = "SP524"
    return about(obj, code, _WAVE, message, f"Move it to wave {last.wave}.", severity=milder(obj))


def _too_early(obj: Object, objects: Objects) -> Iterator[ObjectFinding]:
    for reference in objects.references(obj):
        target = objects.find(reference.target)
        if target and target.application == obj.application and obj.wave < target.wave:
            message = f"The object is in wave {obj.wave}, but needs {reference.target}, which is in wave {target.wave}."
            yield about(obj, "SP525", reference.path, message, f"Move it to wave {target.wave} or later.")
