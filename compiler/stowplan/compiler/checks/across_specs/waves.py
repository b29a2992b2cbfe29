"""Would any wave of a sync wait, or come too early?"""

from collections.abc import Hashable, Iterator, Sequence

from stowplan.compiler.checks.facts.facts import Fact, Step
from stowplan.compiler.checks.facts.world import World
from stowplan.compiler.checks.objects.finding import ObjectFinding, about, milder
from stowplan.library.values import labels
from stowplan.schema.diagnostics import FieldPath
from stowplan.schema.meta import ObjectId

_WAVE: FieldPath = ("metadata", "annotations", labels.SYNC_WAVE)

_Step = tuple[int, int]
"""Phase and wave."""


def check(world: World) -> list[ObjectFinding]:
    """Only kinds without health stand before the last wave of their Application; nothing before what it needs.

    A sync waits for each wave but the last, without a limit, and meanwhile no other commit is synced.
    """
    early = list(_too_early(world))
    moving = {found.object for found in early}
    defined = {fact.id: kind for part in world.parts for fact, kind in part.definitions}
    for members in (world.applications[name] for name, steps in world.steps.items() if _may_hold(steps)):
        held = [fact for fact in holds(members, defined) if fact.id not in moving]
        # What comes too early has to move anyway, so it is not said that it also holds the sync.
        early += [_waiting(fact, _last(members)) for fact in held]
    return early


def holds(members: list[Fact], defined: dict[ObjectId, tuple[str, str]]) -> list[Fact]:
    """What the sync of an Application waits for before its next step.

    As Argo CD does it, without the order within a step: a Namespace and a CRD (`defined` by their identity)
    move to the first step of what needs them.
    """
    tasks = [fact for fact in members if fact.phase >= 0]
    steps = [(fact.phase, fact.wave) for fact in tasks]
    made = [fact.id.name if fact.kind == ("", "Namespace") else None for fact in tasks]
    steps = _moved(steps, made, [fact.id.namespace for fact in tasks])
    steps = _moved(steps, [defined.get(fact.id) for fact in tasks], [fact.kind for fact in tasks])
    last = max(steps, default=None)
    return [fact for fact, step in zip(tasks, steps, strict=True) if fact.gated and step != last]


def _moved(steps: Sequence[_Step], made: Sequence[Hashable], used: Sequence[Hashable]) -> list[_Step]:
    """Each task's step, which for one that makes something is the first in which that is used, if it is before."""
    wanted = {key for key in made if key is not None}
    if not wanted:
        return list(steps)
    first: dict[Hashable, _Step] = {}
    for step, key in zip(steps, used, strict=True):
        if key in wanted:
            first[key] = min(step, first.get(key, step))
    return [step if key is None else min(step, first.get(key, step)) for step, key in zip(steps, made, strict=True)]


def _may_hold(steps: list[Step]) -> bool:
    """Whether there is more than one step, and before the last one anything that is waited for, or that may move."""
    last = max((step.phase, step.wave) for step in steps)
    return any((step.phase, step.wave) != last for step in steps) and any(
        step.moves or (step.gated and (step.phase, step.wave) != last) for step in steps
    )


def _last(members: list[Fact]) -> Fact:
    """An object in the highest wave, the first by its path."""
    return min(members, key=lambda fact: (-fact.wave, fact.path))


def _waiting(fact: Fact, last: Fact) -> ObjectFinding:
    later = f"{last.id} is in wave {last.wave}"
    if fact.kind == ("", "PersistentVolumeClaim"):
        message = (
            f"The claim is in wave {fact.wave}, but {later}: one that is bound with its first pod would wait for ever."
        )
        code = "SP523"
    else:
        message = f"The object is in wave {fact.wave}, but {later}: the sync would wait until this one is healthy."
        code = "SP524"
    return about(fact, code, _WAVE, message, f"Move it to wave {last.wave}.", severity=milder(fact))


def _too_early(world: World) -> Iterator[ObjectFinding]:
    found = {target: fact for target in world.targets if (fact := world.find(target))}
    for reference in world.references_to(found):
        own, target = reference.owner, found[reference.target]
        if target.application == own.application and own.wave < target.wave:
            message = f"The object is in wave {own.wave}, but needs {target.id}, which is in wave {target.wave}."
            hint = f"Move it to wave {target.wave} or later."
            yield about(own, "SP525", reference.path, message, hint)
