"""All objects of one program as summaries, with the facts that the checks across specs collected."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from stowplan.compiler.checks.objects.summary import ObjectSummary
from stowplan.schema.meta import ObjectId
from stowplan.schema.platform.platform import Platform

_Fact = TypeVar("_Fact")


class ObjectGraph:
    """All objects of the output. Iteration yields the sound ones: those that fit their schemas.

    `everything` holds the sound and the unsound objects. `facts` maps each type of fact to all facts of that type;
    facts are about sound objects only.
    """

    def __init__(
        self, everything: Iterable[ObjectSummary], facts: Mapping[type, Sequence[Any]], platform: Platform
    ) -> None:
        self.everything = tuple(everything)
        self._sound = tuple(each for each in self.everything if each.sound)
        self.platform = platform
        self._facts = facts

    def __iter__(self) -> Iterator[ObjectSummary]:
        return iter(self._sound)

    def facts(self, kind: type[_Fact]) -> Sequence[_Fact]:
        """Return all facts of one type, in the order of the specs."""
        return self._facts.get(kind, ())

    def find(self, wanted: ObjectId) -> ObjectSummary | None:
        """Return the sound object with this identity; None if there is none."""
        return self._by_id.get(wanted)

    def exists(self, wanted: ObjectId) -> bool:
        """Whether an object has this identity, sound or not."""
        return wanted in self._ids

    def of_kind(self, kind: str) -> list[ObjectSummary]:
        """Return the sound objects of a kind, of any API group."""
        return [each for each in self if each.id.kind == kind]

    @cached_property
    def applications(self) -> dict[str, list[ObjectSummary]]:
        """The sound objects by the name of the output folder that one Application of Argo CD syncs."""
        found: dict[str, list[ObjectSummary]] = {}
        for each in self:
            found.setdefault(each.application, []).append(each)
        return found

    @cached_property
    def _by_id(self) -> dict[ObjectId, ObjectSummary]:
        return {each.id: each for each in self}

    @cached_property
    def _ids(self) -> frozenset[ObjectId]:
        return frozenset(each.id for each in self.everything)
