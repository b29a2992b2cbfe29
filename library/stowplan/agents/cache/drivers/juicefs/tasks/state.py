"""Small files in the state directory of a volume, by which tasks communicate."""

from collections.abc import Iterable, Mapping
from typing import Protocol


class State(Protocol):
    """State directory, accessed through a mount or the metadata engine. Names are paths below it.

    All answers are current: no implementation caches. Every call may raise AttemptError, and StoppedError if the work
    must stop.
    """

    def read(self) -> Mapping[str, bytes]:
        """Return all files except the warmup markers, which may be thousands."""
        ...

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write each file atomically, in any order."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove the existing ones of these files, in any order."""
        ...
