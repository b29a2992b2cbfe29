"""Would a sync wait for an object before its last step, or apply an object too early?"""

from collections.abc import Hashable, Iterator, Sequence

from stowplan.compiler.checks.across_specs.dangling_references import ObjectReference, is_early
from stowplan.compiler.checks.across_specs.missing_definitions import DefinedKind
from stowplan.compiler.checks.objects.finding import ObjectFinding, about, lenient
from stowplan.compiler.checks.objects.object_graph import ObjectGraph
from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId

_WAVE: FieldPath = ("metadata", "annotations", labels.SYNC_WAVE)

_Step = tuple[int, int]
"""A step of a sync: the index of its phase in `sync_phases.PHASES`, and its wave."""


def check(graph: ObjectGraph) -> list[ObjectFinding]:
    """Return findings for objects that a sync would wait for before its last step, or apply before what they need.

    A sync waits for each wave but the last, without a limit, and meanwhile Argo CD syncs no other commit.
    """
    found = list(_too_early(graph))
    moving = {each.object for each in found}
    defined = {each.owner.id: each.kind for each in graph.facts(DefinedKind)}
    for members in graph.applications.values():
        # The user has to move an object that comes too early anyway, so its wait is not reported.
        waiting = [each for each in awaited(members, defined) if each.id not in moving]
        # An object in the highest wave; of several, the first by path.
        last = min(members, key=lambda each: (-each.wave, each.path))
        found += [_waiting(each, last) for each in waiting]
    return found


def awaited(members: list[ObjectSummary], defined: dict[ObjectId, tuple[str, str]]) -> list[ObjectSummary]:
    """Return the objects that the sync of an Application waits for before it starts its next step.

    `members` are the objects of the Application. `defined` holds the group and kind that each CRD defines. The rules
    are those of Argo CD, except the order within a step: a Namespace or a CRD moves to the first step that needs it.
    """
    tasks = [each for each in members if each.phase >= 0]
    steps = [(each.phase, each.wave) for each in tasks]
    made = [each.id.name if each.kind == ("", "Namespace") else None for each in tasks]
    steps = _moved(steps, made, [each.id.namespace for each in tasks])
    steps = _moved(steps, [defined.get(each.id) for each in tasks], [each.kind for each in tasks])
    last = max(steps, default=None)
    return [each for each, step in zip(tasks, steps, strict=True) if each.awaited and step != last]


def _moved(steps: Sequence[_Step], made: Sequence[Hashable], used: Sequence[Hashable]) -> list[_Step]:
    """Return the step of each task after moves: a task moves to the first step that uses what it makes, if earlier.

    The three sequences have one item for each task: its step, what it makes (None for nothing), and what it uses.
    """
    wanted = {key for key in made if key is not None}
    if not wanted:
        return list(steps)
    first: dict[Hashable, _Step] = {}
    for step, key in zip(steps, used, strict=True):
        if key in wanted:
            first[key] = min(step, first.get(key, step))
    return [step if key is None else min(step, first.get(key, step)) for step, key in zip(steps, made, strict=True)]


def _waiting(own: ObjectSummary, last: ObjectSummary) -> ObjectFinding:
    later = f"{last.id} is in wave {last.wave}"
    if own.kind == ("", "PersistentVolumeClaim"):
        message = (
            f"The claim is in wave {own.wave}, but {later}: one that is bound with its first pod would wait for ever."
        )
        code = "SP523"
    else:
        message = f"The object is in wave {own.wave}, but {later}: the sync would wait until this one is healthy."
        code = "SP524"
    return lenient(own, code, _WAVE, message, f"Move it to wave {last.wave}.")


def _too_early(graph: ObjectGraph) -> Iterator[ObjectFinding]:
    for reference in graph.facts(ObjectReference):
        own, target = reference.owner, graph.find(reference.target)
        if target and is_early(own, target):
            message = f"The object is in wave {own.wave}, but needs {target.id}, which is in wave {target.wave}."
            hint = f"Move it to wave {target.wave} or later."
            yield about(own, "SP525", reference.path, message, hint)
