"""The library hf-xet, for the Xet store, the Hub's storage for large files: how it reads files, and what it remembers.

It fetches blocks of files. It remembers uploads, so that a later attempt sends only the chunks that the Hub lacks. The
library opens its files by their paths and follows links, so they are in a directory that others cannot write to. They
are copied from the claim before an upload and back after it.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_name, remove, walk
from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.remotes.huggingface.hub.environment import LARGEST
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.remotes.huggingface.hub.repository import Hub
from stowplan.agents.transfer.tree import blocks
from stowplan.schema.agents.exit_codes import ExitCode

MOST_FILES = 10_000
"""Maximum number of files that are copied."""

_FOLDER = "xet"
"""Folder in the state directory, and in the directory of the library."""


class Xet:
    """Reader of one commit's files, by a `Hub.xet_connection`. Any thread may read, at most `streams` at a time."""

    def __init__(self, hub: Hub, commit: str, connection: dict[str, str], streams: int, stop: Stop) -> None:
        import hf_xet  # noqa: PLC0415 - a large library that not each transfer needs

        self._library, self._stop = hf_xet, stop
        self._room = threading.Semaphore(streams)
        headers = hub.headers
        # The store gets its own token. The Hub's token goes only to the Hub, to fetch the next one.
        self._group: Any = hf_xet.XetSession().new_download_stream_group(
            endpoint=connection["x-xet-cas-url"],
            token=connection.get("x-xet-access-token"),
            token_expiry_unix_secs=_seconds(connection.get("x-xet-token-expiration", "")),
            token_refresh_url=hub.xet_refresh_url("read", commit),
            token_refresh_headers=headers,
            custom_headers={"user-agent": headers["user-agent"]},
        )

    def read(self, file: RemoteFile, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a file from offset `start` to before `end`, perhaps fewer. Raises AttemptError."""
        try:
            with self._room:
                stream = self._group.download_stream(self._library.XetFileInfo(file.xet, file.size), start, end)
                try:
                    for data in stream:
                        self._stop.check()
                        yield data
                finally:
                    stream.cancel()
        except (AttemptError, StoppedError):
            raise
        except Exception as error:
            # The library raises errors of many kinds, including plain ones.
            message = f"{file.key}: the Xet store: {error}"
            raise AttemptError(ExitCode.TRANSIENT, "Xet", message) from None


def connect(hub: Hub, commit: str, streams: int, stop: Stop) -> Xet | None:
    """Return a reader of the files of a commit, for at most `streams` reads at a time; None without a Xet store."""
    connection = hub.xet_connection("read", commit)
    return Xet(hub, commit, connection, streams, stop) if connection else None


def _seconds(text: str) -> int:
    """Parse the time, in seconds since 1970, at which the token expires; 0 if it is missing or invalid."""
    return int(text) if text.isdecimal() and len(text) < 12 else 0


@contextmanager
def remembered(state: ClaimFolder, library: Path, stop: Stop, log: Log) -> Iterator[None]:
    """Copy what hf-xet remembers from `state` to `library` before the block, and, without a signal, back after it."""
    with ClaimFolder.at(library) as scratch:
        _copy(state, scratch, log)
        try:
            yield
        finally:
            if stop.why != "signal":
                _copy(scratch, state, log)


def _copy(source: ClaimFolder, target: ClaimFolder, log: Log) -> None:
    """Replace the cache in one folder by that in another one, without links. It may be lost: that costs only time."""
    try:
        remove(target, _FOLDER)
        with source.folder(_FOLDER, create=True) as old, target.folder(_FOLDER, create=True) as new:
            left, files = LARGEST, 0
            for path, entry, folder in walk(old, by_name):
                if not entry.is_file:
                    continue
                parent, _, name = path.rpartition("/")
                with os.fdopen(folder.reader(name), "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    left, files = left - size, files + 1
                    if left < 0 or files > MOST_FILES:
                        return
                    with os.fdopen(new.below(parent, create=True).new(name), "wb") as copied:
                        copied.writelines(blocks(file.fileno(), lambda: None, 0, size))
    except (OSError, AttemptError) as error:
        log.warning("Chunks that were sent before may be sent again: their record cannot be copied", error=str(error))
