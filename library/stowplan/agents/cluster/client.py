"""Small Kubernetes client: get, watch and patch one object by name, or list and watch objects by a selector."""

import asyncio
import errno
from collections.abc import AsyncIterator, Mapping
from time import monotonic
from typing import Self

import httpx

from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.answers import (
    Answer,
    Manifest,
    Trouble,
    Unreachable,
    WatchEvent,
    event_of,
    object_of,
    refusal_of,
)
from stowplan.agents.cluster.place import ObjectAddress

REQUEST_SECONDS = 15.0
"""Maximum seconds for each of: making a connection, waiting for the next bytes, and sending."""

WATCH_SECONDS = 240
"""Seconds after which the server ends a watch."""

SILENCE_SECONDS = 90.0
"""Maximum seconds without a line in a watch.

The server sends a bookmark about once a minute even if nothing changes, so a longer silence means a lost server.
"""

CALL_SECONDS = 60.0
"""Maximum seconds for a whole answer: a server that sends its answer byte by byte must not block an agent."""

LARGEST_ANSWER = 64 << 20
LARGEST_EVENT = 8 << 20
LARGEST_REFUSAL = 64 << 10
"""Maximum size in bytes of an answer, of one line of a watch, and of an answer that is a refusal.

etcd stores at most 1.5 MiB per object, and lists are read in pages of 100 objects.
"""

_PLAIN_JSON = {"Accept": "application/json", "Accept-Encoding": "identity"}
"""Headers that request JSON without compression.

Kubernetes 1.37 compresses each event of a watch as a gzip member of its own, and httpx reads only the first member.
"""

MERGE_PATCH = "application/merge-patch+json"
"""Content type of a JSON merge patch."""

APPLY_PATCH = "application/apply-patch+yaml"
"""Content type of server-side apply. JSON is valid YAML."""


class Client:
    """Client of one API server with the identity of one ServiceAccount, used as an async context manager.

    The methods return refusals and lost connections as values (`Refused`, `Unreachable`) and do not raise them. The
    constructor raises OSError if the certificate authorities cannot be read.
    """

    def __init__(self, access: Access, user_agent: str) -> None:
        self._access = access
        self._headers = {"User-Agent": user_agent, **_PLAIN_JSON}
        self._authorities = access.authorities.read_bytes()
        self._http = self._connections()
        self._retired: list[httpx.AsyncClient] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for each in (self._http, *self._retired):
            await each.aclose()

    async def get(self, place: ObjectAddress) -> Answer:
        """Get the present object, as a manifest; `Refused` with status 404 if it does not exist."""
        return await self._call("GET", place.path)

    async def merge_patch(self, place: ObjectAddress, changes: Manifest, manager: str) -> Answer:
        """Apply a JSON merge patch (RFC 7386) under the field manager `manager`, and return the changed object.

        If `changes` has a `metadata.resourceVersion`, the server refuses with 409 if the object has another version.
        """
        parameters = {"fieldManager": manager, "fieldValidation": "Strict"}
        return await self._call("PATCH", place.path, changes, parameters)

    async def status(self, place: ObjectAddress) -> Answer:
        """Get the present object by its path `/status`, the only path that a Role for reports alone allows."""
        return await self._call("GET", f"{place.path}/status")

    async def apply_status(self, place: ObjectAddress, manifest: Manifest, manager: str) -> Answer:
        """Write the status in `manifest` by server-side apply, and return the changed object.

        Fields that another field manager owns are taken over. If `manifest` has a `metadata.resourceVersion`, the
        server refuses with 409 if the object has changed or was created again. A `metadata.uid` alone has no effect
        (Kubernetes 1.35 to 1.37). Do not apply an empty object `{}` within the status if this manager owned fields in
        it: the server would store a null, which the schema refuses. Apply at least one field, or leave it out.
        """
        parameters = {"fieldManager": manager, "fieldValidation": "Strict", "force": "true"}
        return await self._call("PATCH", f"{place.path}/status", manifest, parameters, APPLY_PATCH)

    async def page(self, collection: str, selector: Mapping[str, str], size: int, token: str = "") -> Answer:
        """Get one page of a list: at most `size` of the objects in `collection` that match the selector.

        `collection` is a path on the API server. `selector` has the parameters `labelSelector`, `fieldSelector` or
        both. The answer is a list object with `items`. Its `metadata.continue` is the `token` for the next page, and is
        empty or missing in the last page. The server refuses with 410 if the token is too old; then start without one.
        """
        parameters = {**selector, "limit": str(size)} | ({"continue": token} if token else {})
        return await self._call("GET", collection, parameters=parameters)

    async def watch(
        self, collection: str, selector: Mapping[str, str], resource_version: str | None
    ) -> AsyncIterator[WatchEvent | Trouble]:
        """Watch all objects in `collection` that match the selector, as in `page`, until the server ends the watch.

        Yields their events; a refusal or a lost connection too, as the last item. The events begin after
        `resource_version`, which comes from an object, a list, an event or a bookmark; with None with the current
        objects.
        """
        parameters = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
            **selector,
        } | ({"resourceVersion": resource_version} if resource_version else {})
        timeout = httpx.Timeout(REQUEST_SECONDS, read=SILENCE_SECONDS)
        try:
            headers = self._authorization()
            async with self._http.stream(
                "GET", collection, params=parameters, headers=headers, timeout=timeout
            ) as response:
                if response.is_error:
                    yield refusal_of(response.status_code, await _content(response))
                    return
                async for line in _lines(response.aiter_raw(), monotonic() + WATCH_SECONDS + SILENCE_SECONDS):
                    yield event_of(line)
        except (httpx.HTTPError, OSError, ValueError) as error:
            yield self._unreachable(error)

    async def _call(
        self,
        method: str,
        path: str,
        body: Manifest | None = None,
        parameters: Mapping[str, str] | None = None,
        content: str = MERGE_PATCH,
    ) -> Answer:
        try:
            headers = self._authorization() | ({} if body is None else {"Content-Type": content})
            request = self._http.build_request(method, path, json=body, headers=headers, params=parameters)
            async with asyncio.timeout(CALL_SECONDS):
                response = await self._http.send(request, stream=True)
                try:
                    found = await _content(response)
                finally:
                    await response.aclose()
            return refusal_of(response.status_code, found) if response.is_error else object_of(found)
        except (httpx.HTTPError, OSError, ValueError) as error:
            return self._unreachable(error)

    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._access.token()}"}

    def _connections(self) -> httpx.AsyncClient:
        # httpx must ignore the environment: a proxy or .netrc of the image does not apply to the API server.
        return httpx.AsyncClient(
            base_url=self._access.server,
            verify=self._access.tls(),
            trust_env=False,
            timeout=REQUEST_SECONDS,
            headers=self._headers,
        )

    def _unreachable(self, error: Exception) -> Unreachable:
        try:
            self._renew_authorities()
        except OSError as unreadable:
            error = unreadable
        # A ValueError may quote what was read, and that may be the token.
        text = str(error) if isinstance(error, httpx.HTTPError | OSError) else ""
        return Unreachable(f"{type(error).__name__}: {text}".rstrip(": "))

    def _renew_authorities(self) -> None:
        """Replace the HTTP client if the certificate authorities have changed. Raises OSError if they cannot be read.

        The HTTP client trusts only the authorities with which it was created, so it would refuse a new certificate.
        """
        now = self._access.authorities.read_bytes()
        if now != self._authorities:
            renewed = self._connections()
            self._retired.append(self._http)
            self._authorities, self._http = now, renewed


async def _content(response: httpx.Response) -> bytes:
    """Return the body as it was sent. Of a refusal, at most the first `LARGEST_REFUSAL` bytes.

    Raises OSError if a successful answer is larger than `LARGEST_ANSWER`. The client requests no content encoding, so
    the body is not decoded.
    """
    largest = LARGEST_REFUSAL if response.is_error else LARGEST_ANSWER
    found = bytearray()
    async for chunk in response.aiter_raw():
        found += chunk
        if len(found) > largest:
            if response.is_error:
                break
            raise OSError(errno.EFBIG, f"The server's answer has more than {largest} bytes")
    return bytes(found[:largest])


async def _lines(chunks: AsyncIterator[bytes], end: float) -> AsyncIterator[bytes]:
    """Yield the lines that are not empty, until the monotonic clock shows `end`.

    Raises OSError for a line of more than `LARGEST_EVENT` bytes. Only a line feed ends a line, because
    `str.splitlines` also splits at characters inside JSON strings.
    """
    rest = bytearray()
    async for chunk in chunks:
        first, *others = chunk.split(b"\n")
        rest += first
        for other in others:
            if rest.strip():
                yield bytes(rest)
            rest = bytearray(other)
        if len(rest) > LARGEST_EVENT:
            raise OSError(errno.EFBIG, f"An event of the server has more than {LARGEST_EVENT} bytes")
        if monotonic() > end:
            return
