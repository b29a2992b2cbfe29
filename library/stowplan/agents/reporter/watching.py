"""Watch that keeps a cache equal to the objects of the API server, also after faults and restarts of the server."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic

from stowplan.agents.cluster.answers import Manifest, Refused, Trouble, Unreachable, WatchEvent
from stowplan.agents.cluster.backoff import Backoff
from stowplan.agents.cluster.client import Client
from stowplan.agents.reporter.objects.cache import ObjectCache, T
from stowplan.agents.runtime.log import Log

PAGE = 100
"""Maximum number of objects in one answer, since a whole answer is held in memory."""

STEADY_SECONDS = 5.0
"""Seconds after which a round (list and watch, or watch alone) counts as successful.

After a shorter round the next one is delayed.
"""

SELECTOR = {"labelSelector": "stowplan.dev/kind"}
"""Selector of all objects that are compiled from a spec, by their label."""

_GONE, _NOT_FOUND = 410, 404


@dataclass
class Watching(Generic[T]):
    """Watch of one collection of objects, which writes them into a cache.

    The collection is listed once, page by page, and then watched. A watch ends by its time limit, a fault or a restart
    of the server. The next watch goes on from the last seen version. The collection is listed again only if the server
    no longer has that version (status 410).
    """

    client: Client
    collection: str
    """Path on the API server, such as `/apis/batch/v1/namespaces/ml/jobs`."""
    cache: ObjectCache[T]
    log: Log
    selector: Mapping[str, str] = field(default_factory=lambda: SELECTOR)
    """Selector of the objects, as the parameters `labelSelector` and `fieldSelector`."""
    most_pages: int | None = None
    """Maximum number of pages of the list; None for no limit."""
    optional: bool = False
    """Whether the reporter works without these objects, if the server does not let it list them."""

    async def run(self, version: str | None = None) -> None:
        """List and watch without end. With a `version`, a `resourceVersion` of the collection, begin with a watch."""
        backoff = Backoff()
        while True:
            begin = monotonic()
            version = version or await self._list()
            if version:
                version = await self._watch(version)
            if version and monotonic() - begin >= STEADY_SECONDS:
                backoff.reset()
            else:
                await asyncio.sleep(backoff.seconds())

    async def _list(self) -> str | None:
        """List the collection into the cache. Return the list's `resourceVersion`; None if listing failed."""
        self.cache.begin()
        token, pages = "", 0
        while True:
            page = await self.client.page(self.collection, self.selector, PAGE, token)
            if isinstance(page, Refused | Unreachable):
                self._warn("list", page)
                if isinstance(page, Refused) and (self.optional or page.status == _NOT_FOUND):
                    # A kind that is not served has no objects.
                    self.cache.end()
                return None
            found = page.get("items")
            for each in found if isinstance(found, list) else ():
                self._take(self.cache.put, each)
            metadata, before = page["metadata"], token
            token = str(metadata.get("continue") or "")
            if token and token == before:
                self.log.warning("The server gives the same page for ever", collection=self.collection)
                return None
            pages += 1
            if not token or pages == self.most_pages:
                self.cache.end()
                self.log.info("Listed", collection=self.collection, **self.selector)
                return str(metadata.get("resourceVersion") or "") or None

    async def _watch(self, version: str) -> str | None:
        """Watch from `version` until the watch ends. Return the version from which the next watch must go on.

        None if the server no longer has that version or no longer serves the kind, so that a new list is needed.
        """
        async for event in self.client.watch(self.collection, self.selector, version):
            match event:
                case WatchEvent(kind, found):
                    version = str(found["metadata"].get("resourceVersion") or version)
                    if kind == "DELETED":
                        self._take(self.cache.delete, found)
                    elif kind != "BOOKMARK":
                        self._take(self.cache.put, found)
                case Refused(status=status) if status in (_GONE, _NOT_FOUND):
                    return None
                case Refused() | Unreachable():
                    self._warn("watch", event)
        return version

    def _take(self, change: Callable[[Manifest], None], manifest: Manifest) -> None:
        """Call `change`, a method of the cache, with this manifest. If its shape is unexpected, log and skip it."""
        try:
            change(manifest)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            metadata = manifest.get("metadata") if isinstance(manifest, dict) else None
            name = str(metadata.get("name")) if isinstance(metadata, dict) else None
            self.log.warning("Cannot read an object", collection=self.collection, name=name, error=repr(error))

    def _warn(self, verb: str, trouble: Trouble) -> None:
        self.log.warning(f"Cannot {verb} objects: trying again", collection=self.collection, error=str(trouble))
