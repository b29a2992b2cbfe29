"""Small files in the state directory of a volume. Tasks on different cluster nodes communicate through these files."""

from collections.abc import Iterable, Mapping
from typing import Protocol


class StateDirectory(Protocol):
    """Access to the state directory of a volume, with or without a mount. Names are paths below the directory.

    Every call reads or changes the present files: no implementation has a cache. Every call may raise AttemptError,
    through a mount OSError, and StoppedError if the work must stop.
    """

    def read(self) -> Mapping[str, bytes]:
        """Return the contents of all small files by name, without warmup markers, since there may be thousands."""
        ...

    def fetch(self, name: str, largest: int) -> bytes | None:
        """Return the content of one file; None if it is missing, or larger than `largest` bytes."""
        ...

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files, given as contents by name, each of them atomically. The order is not defined."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove these files, ignoring missing ones. The order is not defined."""
        ...
