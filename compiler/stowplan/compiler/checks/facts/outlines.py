"""What many objects are together, in few words: most checks of whole Applications are settled by these."""

from collections.abc import Sequence
from functools import lru_cache

from stowplan.compiler.checks.facts.facts import Fact, Outline, Step

_MOVED = (("", "Namespace"), ("apiextensions.k8s.io", "CustomResourceDefinition"))


def outline_of(sound: Sequence[Fact]) -> Outline:
    """The outline of sound objects."""
    steps, kinds, sizes = set[Step](), set[tuple[str, str, bool]](), dict[str, int]()
    for fact in sound:
        application, (group, kind, namespace, _) = fact.application, fact.id
        steps.add(Step(application, fact.phase, fact.wave, fact.gated, (group, kind) in _MOVED))
        kinds.add((group, kind, namespace != ""))
        sizes[application] = sizes.get(application, 0) + fact.size
    return Outline(_steps(frozenset(steps)), _kinds(frozenset(kinds)), tuple(sizes.items()))


@lru_cache(maxsize=1024)
def _steps(found: frozenset[Step]) -> tuple[Step, ...]:
    """The first tuple of these, so that it is kept once for all specs that are alike."""
    return tuple(sorted(found))


@lru_cache(maxsize=1024)
def _kinds(found: frozenset[tuple[str, str, bool]]) -> tuple[tuple[str, str, bool], ...]:
    return tuple(sorted(found))
