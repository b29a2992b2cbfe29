"""Reader of files over HTTP. It can request ranges of bytes, so a killed download can be resumed.

The Hub's API answers the request `resolve` with the content of a small file, and with a redirect to a storage for a
large one: https://huggingface.co/docs/hub/api
"""

from collections.abc import Iterator
from contextlib import closing, suppress
from urllib.parse import urljoin

import httpx2
from huggingface_hub.utils._http import hf_raise_for_status

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.network.hosts import MOST_REDIRECTS
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.remotes.huggingface.hub.repository import Hub
from stowplan.agents.transfer.remotes.huggingface.hub.session import MOST_BYTES
from stowplan.agents.transfer.tree import BLOCK
from stowplan.schema.agents.exit_codes import ExitCode

LEAST_BYTES = 64 << 10
"""Bytes that every answer may have, even for a smaller file, since an error page may be longer."""


class HubContent:
    """Reader of the files of one commit. Any thread may use it."""

    def __init__(self, hub: Hub, commit: str) -> None:
        self._hub, self._commit = hub, commit
        self._places: dict[str, str] = {}
        """Storage URLs by path, of files that are read in several parts. They expire after some time."""

    def read(self, file: RemoteFile, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a file from offset `start` to before `end`, perhaps fewer.

        Raises AttemptError, or an error of huggingface_hub or httpx2.
        """
        if start == end:
            return
        is_part = (start, end) != (0, file.size)
        headers = {"range": f"bytes={start}-{end - 1}"} if is_part else {}
        most = max(LEAST_BYTES, end - start)
        with closing(self._answer(file.key, headers, most, keep=is_part)) as response:
            if is_part and response.status_code != 206:
                message = f"{file.key}: the server does not send parts of files"
                raise AttemptError(ExitCode.TRANSIENT, "NoRanges", message)
            try:
                yield from response.iter_raw(BLOCK)
            except httpx2.HTTPError:
                self._places.pop(file.key, None)
                raise

    def _answer(self, key: str, headers: dict[str, str], most: int, *, keep: bool) -> httpx2.Response:
        hub = httpx2.URL(first := self._hub.url(self._commit, key))
        place = self._places.get(key, first)
        for _ in range(MOST_REDIRECTS + 1):
            url = httpx2.URL(place)
            is_hub = (url.scheme, url.netloc) == (hub.scheme, hub.netloc)
            sent = {**headers, "accept-encoding": "identity", **(self._hub.headers if is_hub else {})}
            http = self._hub.http
            request = http.build_request("GET", place, headers=sent, extensions={MOST_BYTES: most})
            response = http.send(request, stream=True, follow_redirects=False)
            if not response.has_redirect_location:
                break
            response.close()
            place = urljoin(place, response.headers["location"])
        else:
            raise AttemptError(ExitCode.TRANSIENT, "Redirects", f"{key}: the server sends us round and round")
        if response.is_success:
            if keep and not is_hub:
                self._places[key] = place
            return response
        self._places.pop(key, None)
        with closing(response), suppress(httpx2.HTTPError):
            response.read()
        if not is_hub and response.status_code < 500 and response.status_code != 429:
            # The storage URL has expired, or the storage has lost the file. Only the Hub's own answers are final.
            raise AttemptError(ExitCode.TRANSIENT, "Storage", f"{key}: the storage answered {response.status_code}")
        if response.status_code == 404:
            # The file was listed, so the history was rewritten. Another attempt finds another commit.
            raise AttemptError(ExitCode.TRANSIENT, "ObjectGone", f"{key} was listed but is not there any more")
        hf_raise_for_status(response)
        raise AttemptError(ExitCode.TRANSIENT, "Refused", f"{key}: {response.status_code}")
