"""Reader of files in the Xet store, the Hub's storage for large files. The library hf-xet fetches their blocks."""

import threading
from collections.abc import Iterator
from typing import Any

from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.remotes.huggingface.hub.repository import Hub
from stowplan.schema.agents.exit_codes import ExitCode


class Xet:
    """Reader of the files of one commit. Any thread may read; at most `streams` do at the same time."""

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
        with self._room:
            yield from self._read(file, start, end)

    def _read(self, file: RemoteFile, start: int, end: int) -> Iterator[bytes]:
        try:
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
    """Return a reader of the files of a commit; None if the Hub has no Xet store."""
    connection = hub.xet_connection("read", commit)
    return Xet(hub, commit, connection, streams, stop) if connection else None


def _seconds(text: str) -> int:
    """Parse the time, in seconds since 1970, at which the token expires; 0 if it is missing or invalid."""
    return int(text) if text.isdecimal() and len(text) < 12 else 0
