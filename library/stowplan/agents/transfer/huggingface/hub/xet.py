"""The bytes of files that are in the Xet store, by hf-xet: it fetches them block by block, from where they are."""

import threading
from collections.abc import Iterator
from typing import Any

from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.huggingface.hub.repository import Hub
from stowplan.schema.agents.exit_codes import ExitCode


class Xet:
    """Files of one commit; any thread may read."""

    def __init__(self, hub: Hub, commit: str, connection: dict[str, str], streams: int, stop: Stop) -> None:
        import hf_xet  # noqa: PLC0415 - a large library that not each transfer needs

        self._library, self._stop = hf_xet, stop
        self._room = threading.Semaphore(streams)
        headers = hub.headers
        # The store gets a token of its own; the Hub's goes to the Hub, for a new one.
        self._group: Any = hf_xet.XetSession().new_download_stream_group(
            endpoint=connection["x-xet-cas-url"],
            token=connection.get("x-xet-access-token"),
            token_expiry_unix_secs=_seconds(connection.get("x-xet-token-expiration", "")),
            token_refresh_url=hub.xet_refresh_url("read", commit),
            token_refresh_headers=headers,
            custom_headers={"user-agent": headers["user-agent"]},
        )

    def read(self, file: RemoteFile, start: int, end: int) -> Iterator[bytes]:
        """Some bytes of a file, perhaps fewer than were asked for; AttemptError."""
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
            # The library raises errors of many kinds, also plain ones.
            message = f"{file.key}: the Xet store: {error}"
            raise AttemptError(ExitCode.TRANSIENT, "Xet", message) from None


def connect(hub: Hub, commit: str, streams: int, stop: Stop) -> Xet | None:
    """Access to the files of a commit; None on a Hub that has no such store."""
    connection = hub.xet_connection("read", commit)
    return Xet(hub, commit, connection, streams, stop) if connection else None


def _seconds(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 12 else 0
