"""Custom resources that are to be looked at, each at its time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from stowplan.agents.reporter.workloads import Key


@dataclass
class Queue:
    """A set of keys with times; whoever takes one may be sure that nobody else has it at that moment.

    Changes that come close together are one look. `clock` gives seconds and only goes forward.
    """

    clock: Callable[[], float]
    _due: dict[Key, float] = field(default_factory=dict)
    _taken: set[Key] = field(default_factory=set)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, key: Key, delay: float) -> None:
        """Look at it after so many seconds, or when it was due already."""
        at = self.clock() + delay
        self._due[key] = min(at, self._due.get(key, at))
        self._news.set()

    async def take(self) -> Key:
        """The next one that is due."""
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
        """It may be taken again."""
        self._taken.discard(key)
        self._news.set()
