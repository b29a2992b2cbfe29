"""Queue of the custom resources to judge, each with its time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from stowplan.agents.reporter.workloads import Key


@dataclass
class Queue:
    """A set of keys with times. No two workers hold the same key at once.

    Changes of one key before its time are taken together. `clock` returns seconds and is monotonic.
    """

    clock: Callable[[], float]
    _due: dict[Key, float] = field(default_factory=dict)
    _taken: set[Key] = field(default_factory=set)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, key: Key, delay: float) -> None:
        """Make the key due after `delay` seconds, unless it is due earlier."""
        at = self.clock() + delay
        self._due[key] = min(at, self._due.get(key, at))
        self._news.set()

    async def take(self) -> Key:
        """Wait for the next due key and return it."""
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
        """Release the key, so that it can be taken again."""
        self._taken.discard(key)
        self._news.set()
