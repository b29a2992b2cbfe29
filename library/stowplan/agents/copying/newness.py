"""What is new: whether a file that is there is the copy of what a source lists.

Size and modification time decide, together with what the record of the last copy says of the version, such as an ETag
or a digest. A time alone proves nothing, and no file is older or newer than another: it is the same, or it is copied.
"""

import os
import stat
from typing import NamedTuple

SECOND = 10**9
"""Nanoseconds of a second: the unit of the times that stores tell."""


class Stamp(NamedTuple):
    """Size in bytes and modification time in nanoseconds since 1970."""

    size: int
    modified_ns: int

    @classmethod
    def of(cls, found: os.stat_result | None) -> "Stamp | None":
        """Return the stamp of a file by its attributes; None if they are None (no such file) or of no regular file."""
        if found is None or not stat.S_ISREG(found.st_mode):
            return None
        return cls(found.st_size, found.st_mtime_ns)

    def agrees(self, there: "Stamp | None", unit: int = 1) -> bool:
        """Return whether `there` has this size, and this time in whole units of `unit` nanoseconds; False for None."""
        return there is not None and there.size == self.size and there.modified_ns // unit == self.modified_ns // unit
