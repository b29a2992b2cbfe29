"""Small files in the state directory of a volume. Tasks on different cluster nodes communicate through these files."""

from collections.abc import Iterable, Mapping
from typing import Protocol


class State(Protocol):
    """Access to the state directory of a volume, with or without a mount. Names are paths below the directory.

    Every call reads or changes the present files: no implementation has a cache. Every call may raise AttemptError, and
    StoppedError if the work must stop.
    """

    def read(self) -> Mapping[str, bytes]:
        """Return the contents of all files by name, without the warmup markers, since there may be thousands."""
        ...

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files, given as contents by name, each of them atomically. The order is not defined."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Remove these files, ignoring missing ones. The order is not defined."""
        ...
