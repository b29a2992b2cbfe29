"""Control file of a JuiceFS mount. A request in it asks the mount's process to load, evict, check or remove files.

`juicefs warmup` and `juicefs rmr` use this file too. They exit with 0 whatever the result of their request, and print
the result as prose; the answers in the file are exact. The file exists in every directory of a mount, also in a volume
that is mounted by a `subPath`. The binary formats are those of JuiceFS 1.2 to 1.4 (`pkg/vfs/internal.go`).
"""

import errno
import json
import os
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.schema.agents.exit_codes import ExitCode

NAMES = (".jfs.control", ".control")
"""Possible names of the control file. The first name is for a mount with the option `prefix-internal`."""

INTERNAL_INODES = 0x7FFFFFFF00000000
"""Lowest inode number of the mount's internal files: control file, statistics, trash."""

TRASH_INODE = 0x7FFFFFFF10000000
"""Inode number of the trash directory. Every volume has it, and everybody may read it (`pkg/meta/base.go`)."""

LARGEST_ANSWER = 1 << 20
"""Maximum size of an answer in bytes. An answer is a JSON object of a few numbers."""

MOST_PATHS = 10240
"""Maximum number of paths in one request; `juicefs warmup` has the same limit."""

_REMOVE, _FILL = 1002, 1004
_PROGRESS, _DATA = 0xFE, 0xFF
_GONE = (errno.EBADF, errno.ENOTCONN, errno.ECONNABORTED, errno.ESTALE)
_SHORTEST, _LONGEST = 0.002, 0.2
"""Shortest and longest wait in seconds between two polls for an answer."""

Progress = Callable[[int, int], None]
"""Callback that gets the numbers of files and bytes that the mount has processed so far in one request."""


class CacheAction(IntEnum):
    """Operation on the cached blocks of files: load them, evict them, or check whether they are cached."""

    LOAD = 0
    EVICT = 1
    CHECK = 2


@dataclass(frozen=True, slots=True)
class Filled:
    """Result of one or several requests on the cache."""

    files: int
    """Number of files that were processed."""
    bytes: int
    """Size of these files."""
    missing: int
    """Bytes of these files that the request checked and did not find in the cache."""

    def __add__(self, other: "Filled") -> "Filled":
        return Filled(self.files + other.files, self.bytes + other.bytes, self.missing + other.missing)

    @property
    def cached(self) -> int:
        return self.bytes - self.missing


@dataclass(frozen=True)
class Control:
    """Control file of the mount that contains `directory`."""

    directory: Path
    stop: Stop

    def probe(self) -> None:
        """Raise AttemptError TRANSIENT (10) if `directory` is not in a JuiceFS mount, or the mount is read-only."""
        os.close(self._open())

    def fill(self, action: CacheAction, inodes: Sequence[int], threads: int, progress: Progress) -> Filled:
        """Apply the action to files and directories by inode numbers, `MOST_PATHS` at most, and return the result.

        A directory stands for all files below it. `threads` is the number of threads that the mount's process uses.
        Raises AttemptError TRANSIENT (10) if the mount goes away or refuses. Raises StoppedError if the work must stop;
        the mount's process then stops this request too.
        """
        paths = "\n".join(f"inode:{inode}" for inode in inodes).encode()
        body = struct.pack(">I", len(paths)) + paths + struct.pack(">HBB", min(threads, 65535), 0, action)
        code, data = self._ask(_FILL, body, progress)
        if code:
            raise AttemptError(
                ExitCode.TRANSIENT, "MountRefuses", f"The mount refuses to work on its cache: {os.strerror(code)}"
            )
        try:
            found = json.loads(data)
            return Filled(*(int(found[name]) for name in ("FileCount", "TotalBytes", "MissBytes")))
        except (ValueError, LookupError, TypeError, RecursionError):
            message = "The mount's answer is not that of JuiceFS 1.2 to 1.4"
            raise AttemptError(ExitCode.TRANSIENT, "BadAnswer", message) from None

    def remove(self, parent: int, name: bytes, progress: Progress) -> int:
        """Remove the entry `name` of the directory with inode number `parent`, with everything below it.

        Returns the error number, such as `errno.ENOENT`; 0 for success. Raises AttemptError TRANSIENT (10) if the mount
        goes away, and StoppedError if the work must stop.
        """
        body = struct.pack(">QB", parent, len(name)) + name + struct.pack(">BB", 0, 50)
        return self._ask(_REMOVE, body, progress)[0]

    def _ask(self, command: int, body: bytes, progress: Progress) -> tuple[int, bytes]:
        try:
            descriptor = self._open()
            try:
                _write(descriptor, struct.pack(">II", command, len(body)) + body)
                return self._answer(descriptor, progress)
            finally:
                # Closing also ends the mount's work on this request.
                os.close(descriptor)
        except OSError as error:
            if error.errno in _GONE:
                message = f"The mount at {self.directory} went away: {error.strerror}"
                raise AttemptError(ExitCode.TRANSIENT, "MountGone", message) from None
            raise

    def _open(self) -> int:
        with ClaimFolder.at(self.directory) as folder:
            for name in NAMES:
                descriptor = folder.existing(name)
                if descriptor is None:
                    continue
                # A file of this name with a smaller inode is an ordinary file, perhaps created to deceive this program.
                if os.fstat(descriptor).st_ino >= INTERNAL_INODES:
                    return descriptor
                os.close(descriptor)
        # Not permanent, since the mount may come back.
        message = f"{self.directory} is no mount of JuiceFS, or a read-only one: it has no control file"
        raise AttemptError(ExitCode.TRANSIENT, "NoMount", message)

    def _answer(self, descriptor: int, progress: Progress) -> tuple[int, bytes]:
        """Read the mount's messages until the answer. Call `progress` for each message about progress.

        Returns the error number and the data of the answer. The data is empty after an error; the number is 0 for data.
        """
        rest, wait = b"", _SHORTEST
        while True:
            # The file cannot be waited for: a read returns nothing until the mount has written more.
            more = os.read(descriptor, 1 << 17)
            if not more:
                self.stop.sleep(wait)
                wait = min(wait * 1.5, _LONGEST)
                continue
            rest, wait = rest + more, _SHORTEST
            while len(rest) >= 17 and rest[0] == _PROGRESS:
                progress(*struct.unpack(">QQ", rest[1:17]))
                rest = rest[17:]
            if rest and rest[0] < _PROGRESS:
                return rest[0], b""
            if len(rest) >= 5 and rest[0] == _DATA:
                (size,) = struct.unpack(">I", rest[1:5])
                if size > LARGEST_ANSWER:
                    raise AttemptError(ExitCode.TRANSIENT, "BadAnswer", f"The mount's answer has {size} bytes")
                if len(rest) >= 5 + size:
                    return 0, rest[5 : 5 + size]


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
