"""All objects of one run as facts, found by identity, kind and Application."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar

from stowplan.compiler.checks.facts.facts import Fact, Facts, Reference, Step
from stowplan.schema.meta import ObjectId


class World:
    """The facts of all specs. Iterating gives those of sound objects; others are only known to exist."""

    def __init__(self, parts: Iterable[Facts]) -> None:
        self.parts = tuple(parts)

    def __iter__(self) -> Iterator[Fact]:
        return (fact for fact in self.everything if fact.sound)

    def find(self, wanted: ObjectId) -> Fact | None:
        """The sound object of that identity, if there is one."""
        return self._sound.get(wanted)

    def exists(self, wanted: ObjectId) -> bool:
        """Whether there is an object of that identity, sound or not."""
        return wanted in self._keys

    def of_kind(self, kind: str) -> list[Fact]:
        """The sound objects of a kind, whatever their group."""
        return [fact for fact in self if fact.id.kind == kind]

    @cached_property
    def everything(self) -> list[Fact]:
        """All objects, sound or not."""
        return [fact for part in self.parts for fact in part.objects]

    @cached_property
    def kinds(self) -> set[tuple[tuple[str, str], bool]]:
        """Group and kind of the sound objects, and whether they have a namespace."""
        found = set[tuple[str, str, bool]]().union(*_distinct(part.outline.kinds for part in self.parts))
        return {((group, kind), namespaced) for group, kind, namespaced in found}

    @cached_property
    def steps(self) -> dict[str, list[Step]]:
        """Where the sound objects of each Application stand in its sync, each place once, sorted."""
        found: dict[str, list[Step]] = {}
        for step in sorted(set[Step]().union(*_distinct(part.outline.steps for part in self.parts))):
            found.setdefault(step.application, []).append(step)
        return found

    @cached_property
    def sizes(self) -> Counter[str]:
        """The size of the sound objects of each Application."""
        found = Counter[str]()
        for part in self.parts:
            for application, size in part.outline.sizes:
                found[application] += size
        return found

    def repeated(self) -> list[Fact]:
        """Objects with a name whose identity another one has too, the first of them first."""
        if len(self._keys) == len(self.everything):
            return []
        times = Counter(fact.id for fact in self.everything)
        found = (fact for fact in self.everything if fact.id.name and times[fact.id] > 1)
        return sorted(found, key=lambda fact: fact.order)

    @cached_property
    def applications(self) -> dict[str, list[Fact]]:
        """The sound objects by the first folder of their path, which one Application of Argo CD syncs."""
        found: dict[str, list[Fact]] = {}
        for fact in self:
            found.setdefault(fact.application, []).append(fact)
        return found

    @cached_property
    def targets(self) -> frozenset[ObjectId]:
        """What references lead to: far fewer than there are references."""
        return frozenset([reference.target for part in self.parts for reference in part.references])

    def references_to(self, targets: Collection[ObjectId]) -> Iterator[Reference]:
        """Those that lead to one of these."""
        given = (part.references for part in self.parts) if targets else ()
        return (reference for some in given for reference in some if reference.target in targets)

    @cached_property
    def externals(self) -> frozenset[tuple[str, str, str]]:
        """Kind, namespace and name of all that is known to come from elsewhere."""
        return frozenset(external for part in self.parts for external in part.externals)

    @cached_property
    def contents(self) -> dict[ObjectId, tuple[str, ...]]:
        """The keys of each ConfigMap."""
        return dict(pair for part in self.parts for pair in part.contents)

    @cached_property
    def replicas(self) -> dict[ObjectId, int]:
        """The number of pods of each StatefulSet."""
        return dict(pair for part in self.parts for pair in part.replicas)

    @cached_property
    def _sound(self) -> Mapping[ObjectId, Fact]:
        return {fact.id: fact for fact in self}

    @cached_property
    def _keys(self) -> Collection[ObjectId]:
        return frozenset(fact.id for fact in self.everything)


_Value = TypeVar("_Value")


def _distinct(values: Iterable[_Value]) -> Collection[_Value]:
    """Each value once, most of which are kept once for all specs that are alike."""
    return {id(value): value for value in values}.values()
