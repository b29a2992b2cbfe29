"""Specs whose runs the user wants compiled again."""

from collections.abc import Collection
from dataclasses import dataclass

from stowplan.schema.meta import SpecId


@dataclass(frozen=True, slots=True)
class Recompile:
    """Specs whose runs the user wants compiled again although the specs have not changed: all, or the named ones.

    A spec is named `imagenet`, `ml/imagenet` or `SampleSet ml/imagenet`.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()

    @classmethod
    def named(cls, names: Collection[str]) -> "Recompile":
        """Return the choice that these names of specs make; `all` is that of every spec."""
        return cls("all" in names, frozenset(names) - {"all"})

    def covers(self, spec: SpecId) -> bool:
        """Whether the run of `spec` is to be compiled again."""
        return self.everything or not self.names.isdisjoint(_names(spec))

    def unknown(self, specs: Collection[SpecId]) -> list[str]:
        """Return the names that the user gave and that none of `specs` has, sorted."""
        return sorted(self.names.difference(*(_names(spec) for spec in specs)))


NOTHING = Recompile()


def _names(spec: SpecId) -> frozenset[str]:
    return frozenset((spec.name, f"{spec.namespace}/{spec.name}", str(spec)))
