"""Queue of the custom resources whose status must be derived, each with the time at which it is due."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from stowplan.agents.reporter.objects.workloads import Key


@dataclass
class Queue:
    """Queue of keys of custom resources, for several workers. No two workers have the same key at once.

    A key that is added several times before it is due is taken once.
    """

    clock: Callable[[], float]
    """Monotonic clock in seconds."""
    _due: dict[Key, float] = field(default_factory=dict)
    """Time at which each key is due."""
    _taken: set[Key] = field(default_factory=set)
    """Keys that workers have taken and not released."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, key: Key, delay: float) -> None:
        """Add a key that is due after `delay` seconds. If the key is already in the queue, the earlier time counts."""
        at = self.clock() + delay
        self._due[key] = min(at, self._due.get(key, at))
        self._news.set()

    async def take(self) -> Key:
        """Wait until a key is due that no worker has taken, and return it. The caller must call `done` with the key."""
        while True:
            self._news.clear()
            waiting = [(at, key) for key, at in self._due.items() if key not in self._taken]
            if waiting:
                at, key = min(waiting)
                left = at - self.clock()
                if left <= 0:
                    del self._due[key]
                    self._taken.add(key)
                    return key
            else:
                left = None
            try:
                async with asyncio.timeout(left):
                    await self._news.wait()
            except TimeoutError:
                continue

    def done(self, key: Key) -> None:
        """Release a key that `take` has returned, so that it can be taken again."""
        self._taken.discard(key)
        self._news.set()
