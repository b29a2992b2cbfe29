"""All objects by identity and path, for a process that checks nearly the same ones again and again."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from stowplan.compiler.checks.facts.facts import Fact, Facts
from stowplan.compiler.output import paths
from stowplan.schema.meta import ObjectId, SpecId


class ObjectIndex:
    """The objects of the last run that are sound and not in each other's way, if all were.

    It follows from one run to the next by what came and what left. Where anything is wrong it knows nothing, and takes
    in all objects of the next run.
    """

    objects: dict[ObjectId, Fact]
    _parts: Mapping[SpecId | None, Facts]
    _files: set[str]
    _folders: Counter[str]

    def __init__(self) -> None:
        self._forget()

    def follow(self, parts: Mapping[SpecId | None, Facts]) -> bool:
        """Take in the facts of a run, by spec; whether all objects are sound and none is in the way of another."""
        before, self._parts = self._parts, parts
        for fact in _different(before, parts):
            self._remove(fact)
        came = list(_different(parts, before))
        if all(map(self._add, came)) and not any(map(self._clashes, came)):
            return True
        self._forget()
        return False

    def _forget(self) -> None:
        self._parts, self.objects = {}, {}
        self._files, self._folders = set(), Counter()

    def _remove(self, fact: Fact) -> None:
        del self.objects[fact.id]
        path = paths.folded(fact.path)
        self._files.remove(path)
        self._folders.subtract(paths.parents(path))

    def _add(self, fact: Fact) -> bool:
        """Whether it could be added."""
        path = paths.folded(fact.path)
        if not fact.sound or fact.id in self.objects or path in self._files or not paths.safe(fact.path):
            return False
        self.objects[fact.id] = fact
        self._files.add(path)
        self._folders.update(paths.parents(path))
        return True

    def _clashes(self, fact: Fact) -> bool:
        """Whether its file is the folder of another one, or below one."""
        path = paths.folded(fact.path)
        return self._folders[path] > 0 or not self._files.isdisjoint(paths.parents(path))


def _different(parts: Mapping[SpecId | None, Facts], others: Mapping[SpecId | None, Facts]) -> Iterator[Fact]:
    """The objects of `parts` that are not in `others`, told apart by whose facts these are."""
    found: Iterable[Facts] = (facts for spec, facts in parts.items() if others.get(spec) is not facts)
    return (fact for facts in found for fact in facts.objects)
