"""How many specs a command read, for its last lines."""

from typing import NamedTuple

from stowplan.schema.wording import counted


class SpecCount(NamedTuple):
    """The number of specs, and of the files that hold them."""

    specs: int = 0
    files: int = 0

    def __str__(self) -> str:
        """Return the count in words, such as `14 specs in 9 files`."""
        return f"{counted(self.specs, 'spec')} in {counted(self.files, 'file')}"
