"""Small files in the state directory of a volume, which tasks leave for each other."""

from collections.abc import Iterable, Mapping
from typing import Protocol


class State(Protocol):
    """The state directory, by way of a mount or of the metadata engine. Names are paths below it.

    What it says is what all machines would be told now: nothing is remembered. Every call may raise AttemptError, and
    StoppedError if there is to be no more work.
    """

    def read(self) -> Mapping[str, bytes]:
        """All files but the warmup markers, of which there may be thousands."""
        ...

    def write(self, files: Mapping[str, bytes]) -> None:
        """Each as a whole or not at all, in any order."""
        ...

    def remove(self, names: Iterable[str]) -> None:
        """Those that are there, in any order."""
        ...
