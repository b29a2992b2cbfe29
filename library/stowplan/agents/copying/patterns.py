"""Patterns that select the files of a transfer."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Patterns:
    """Patterns as those of the Hub's command line: `*` also matches `/`, and `folder/` matches everything below.

    Paths are relative to the source or destination, and letters of another case are other letters.
    """

    include: Sequence[str]
    exclude: Sequence[str]

    @property
    def given(self) -> bool:
        """Whether there is any pattern."""
        return bool(self.include or self.exclude)

    def take(self, key: str) -> bool:
        """Return whether a path matches a pattern of `include`, or that is empty, and matches none of `exclude`."""
        return (not self.include or _any(key, self.include)) and not _any(key, self.exclude)


EVERYTHING = Patterns((), ())


def _any(key: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(key, f"{each}*" if each.endswith("/") else each) for each in patterns)
