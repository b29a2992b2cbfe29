"""A thin Kubernetes client: get, watch and patch one object by its name, or follow all that a selector selects."""

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
from stowplan.agents.cluster.place import Place

REQUEST_SECONDS = 15.0
"""Longest wait for a connection, for its next bytes, and for the room to send."""

WATCH_SECONDS = 240
"""The server ends a watch after this time."""

SILENCE_SECONDS = 90.0
"""A watch with nothing to say gets a bookmark about once a minute: after a longer silence the server is gone."""

CALL_SECONDS = 60.0
"""Longest time for a whole answer: one byte now and then must not keep an agent."""

LARGEST_ANSWER = 64 << 20
LARGEST_EVENT = 8 << 20
LARGEST_REFUSAL = 64 << 10
"""Bytes. An object has at most 1.5 MiB where etcd stores it, and lists are read by pages of 100."""

_PLAIN_JSON = {"Accept": "application/json", "Accept-Encoding": "identity"}
"""Kubernetes 1.37 sends each event of a compressed watch as a gzip member of its own; httpx reads the first alone."""

MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
"""JSON is YAML, so it may stand in such a patch."""


class Client:
    """One identity on one API server. To be used as an async context manager."""

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

    async def get(self, place: Place) -> Answer:
        """The object as it is now."""
        return await self._call("GET", place.path)

    async def merge_patch(self, place: Place, changes: Manifest, manager: str) -> Answer:
        """JSON merge patch (RFC 7386); with `metadata.resourceVersion` in it, 409 if the object is another version."""
        parameters = {"fieldManager": manager, "fieldValidation": "Strict"}
        return await self._call("PATCH", place.path, changes, parameters)

    async def status(self, place: Place) -> Answer:
        """The object as it is now, by its `/status`: the one path that a Role for reports alone allows."""
        return await self._call("GET", f"{place.path}/status")

    async def apply_status(self, place: Place, manifest: Manifest, manager: str) -> Answer:
        """Server-side apply of the status of an object. Fields that another manager took come back to this one.

        With `metadata.resourceVersion` in it, 409 if the object is another version by now, or was made anew. A
        `metadata.uid` alone is not looked at (Kubernetes 1.34 to 1.37). Where this manager had fields in an object, an
        empty one leaves a null there, which the schema refuses: it has to keep a field, or to be left out as a whole.
        """
        parameters = {"fieldManager": manager, "fieldValidation": "Strict", "force": "true"}
        return await self._call("PATCH", f"{place.path}/status", manifest, parameters, APPLY_PATCH)

    def watch(self, place: Place, resource_version: str | None) -> AsyncIterator[WatchEvent | Trouble]:
        """What happens to one object, until the server ends the watch or after a trouble, which is the last item.

        Without a version the first event is the object as it is now, if it is there. The field selector is not for
        speed: a rule with `resourceNames` allows a watch only so.
        """
        selector = {"fieldSelector": f"metadata.name={place.name}"}
        return self._watch(place.collection, selector, resource_version)

    async def page(self, collection: str, selector: str, size: int, token: str = "") -> Answer:
        """A page of the objects that a label selector selects; `metadata.continue` is the token of the next one.

        410 where the token is too old: the list has to begin anew.
        """
        parameters = {"labelSelector": selector, "limit": str(size)} | ({"continue": token} if token else {})
        return await self._call("GET", collection, parameters=parameters)

    def watch_all(self, collection: str, selector: str, resource_version: str) -> AsyncIterator[WatchEvent | Trouble]:
        """As `watch`, of all objects that a label selector selects, from a version on that a list or bookmark gave."""
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
        # Nothing from the environment: a proxy or a .netrc of the image is not for the API server.
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
        # The text of a ValueError may quote what was read, and that may be the token.
        text = str(error) if isinstance(error, httpx.HTTPError | OSError) else ""
        return Unreachable(f"{type(error).__name__}: {text}".rstrip(": "))

    def _renew_authorities(self) -> None:
        """A server with a certificate of an authority that came since is a stranger to the connections of before."""
        now = self._access.authorities.read_bytes()
        if now != self._authorities:
            renewed = self._connections()
            self._retired.append(self._http)
            self._authorities, self._http = now, renewed


async def _content(response: httpx.Response) -> bytes:
    """The body as it was sent: of a refusal its beginning, of an answer all of it, or OSError if it is too large.

    The client asks for no encoding, so it undoes none.
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
    """Lines that are not empty, until the clock shows `end`; OSError for one that is larger than any event.

    Only a line feed ends one: `str.splitlines` also ends them inside of JSON strings.
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
