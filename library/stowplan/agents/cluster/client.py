"""Thin Kubernetes client: get, watch and patch one object by name, or list and watch the objects of a selector."""

import asyncio
import errno
from collections.abc import AsyncIterator, Mapping
from time import monotonic
from types import TracebackType
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
"""Maximum wait in seconds for a connection, for the next bytes, and for sending."""

WATCH_SECONDS = 240
"""Seconds after which the server ends a watch."""

SILENCE_SECONDS = 90.0
"""Maximum silence of a watch.

An idle watch gets a bookmark about once a minute, so a longer silence means a lost server.
"""

CALL_SECONDS = 60.0
"""Maximum seconds for a whole answer: a server that sends single bytes must not hold up an agent."""

LARGEST_ANSWER = 64 << 20
LARGEST_EVENT = 8 << 20
LARGEST_REFUSAL = 64 << 10
"""Maximum size in bytes. etcd stores at most 1.5 MiB per object, and lists are read in pages of 100."""

_PLAIN_JSON = {"Accept": "application/json", "Accept-Encoding": "identity"}
"""Header against compression: Kubernetes 1.37 sends each watch event as its own gzip member; httpx reads only the
first.
"""

MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
"""Content type of server-side apply. JSON is valid YAML."""


class Client:
    """Client with one identity on one API server, used as an async context manager."""

    def __init__(self, access: Access, user_agent: str) -> None:
        self._access = access
        self._headers = {"User-Agent": user_agent, **_PLAIN_JSON}
        self._authorities = access.authorities.read_bytes()
        self._http = self._connections()
        self._retired: list[httpx.AsyncClient] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in (self._http, *self._retired):
            await each.aclose()

    async def get(self, place: ObjectAddress) -> Answer:
        """The object as it is now."""
        return await self._call("GET", place.path)

    async def merge_patch(self, place: ObjectAddress, changes: Manifest, manager: str) -> Answer:
        """JSON merge patch (RFC 7386); with `metadata.resourceVersion` in it, 409 if the object is another version."""
        parameters = {"fieldManager": manager, "fieldValidation": "Strict"}
        return await self._call("PATCH", place.path, changes, parameters)

    async def status(self, place: ObjectAddress) -> Answer:
        """The object as it is now, by its `/status`: the one path that a Role for reports alone allows."""
        return await self._call("GET", f"{place.path}/status")

    async def apply_status(self, place: ObjectAddress, manifest: Manifest, manager: str) -> Answer:
        """Server-side apply of the status of an object. Fields that another manager took come back to this one.

        Fields that another manager took come back to this manager.

        With `metadata.resourceVersion`, an object that changed or was created anew is refused with 409. A
        `metadata.uid` alone is ignored (Kubernetes 1.34 to 1.37). If this manager owned fields in an object, an empty
        object leaves a null in its place, which the schema refuses: apply at least one field, or leave the object out.
        """
        parameters = {"fieldManager": manager, "fieldValidation": "Strict", "force": "true"}
        return await self._call("PATCH", f"{place.path}/status", manifest, parameters, APPLY_PATCH)

    def watch(self, place: ObjectAddress, resource_version: str | None) -> AsyncIterator[WatchEvent | Trouble]:
        """What happens to one object, until the server ends the watch or after a trouble, which is the last item.

        Without a version the first event is the current object, if it exists. The field selector is required: a rule
        with `resourceNames` allows a watch only with it.
        """
        selector = {"fieldSelector": f"metadata.name={place.name}"}
        return self._watch(place.collection, selector, resource_version)

    async def page(self, collection: str, selector: str, size: int, token: str = "") -> Answer:
        """Get one page of the objects that a label selector selects; `metadata.continue` is the token of the next page.

        The server answers 410 if the token is too old: the list must then start again.
        """
        parameters = {"labelSelector": selector, "limit": str(size)} | ({"continue": token} if token else {})
        return await self._call("GET", collection, parameters=parameters)

    def watch_all(self, collection: str, selector: str, resource_version: str) -> AsyncIterator[WatchEvent | Trouble]:
        """Watch all objects that a label selector selects, from the version of a list or bookmark on."""
        return self._watch(collection, {"labelSelector": selector}, resource_version)

    async def _watch(
        self, collection: str, selector: Mapping[str, str], resource_version: str | None
    ) -> AsyncIterator[WatchEvent | Trouble]:
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
        """Replace the connections if the authorities have changed: a new certificate fails on connections with the old
        ones.
        """
        now = self._access.authorities.read_bytes()
        if now != self._authorities:
            renewed = self._connections()
            self._retired.append(self._http)
            self._authorities, self._http = now, renewed


async def _content(response: httpx.Response) -> bytes:
    """Read the body as sent: the beginning of a refusal, or a whole answer. Raises OSError if an answer is too large.

    The client requests no encoding, so it decodes none.
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
    """Yield the lines that are not empty, until the clock shows `end`. Raises OSError for a line larger than any event.

    Only a line feed ends a line: `str.splitlines` also splits inside of JSON strings.
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
