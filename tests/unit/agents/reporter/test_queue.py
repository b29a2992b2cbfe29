"""The queue of the custom resources to judge."""

import asyncio

from stowplan.agents.reporter.queue import Queue

ONE, TWO = ("SampleSet", "one"), ("SampleSet", "two")


class Clock:
    """A clock that moves by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def taken(queue: Queue) -> object:
    """Return the key that is due now, if any."""
    try:
        async with asyncio.timeout(0.01):
            return await queue.take()
    except TimeoutError:
        return None


def test_close_changes_of_one_key_are_taken_together() -> None:
    async def story() -> list[object]:
        clock = Clock()
        queue = Queue(clock)
        for _ in range(3):
            queue.add(ONE, 5)
        before = await taken(queue)
        clock.now = 6
        return [before, await taken(queue), await taken(queue)]

    assert asyncio.run(story()) == [None, ONE, None]


def test_an_earlier_time_wins() -> None:
    async def story() -> object:
        queue = Queue(Clock())
        queue.add(ONE, 5)
        queue.add(ONE, 0)
        queue.add(TWO, 5)
        return await taken(queue)

    assert asyncio.run(story()) == ONE


def test_a_taken_key_is_not_given_to_another_worker() -> None:
    async def story() -> list[object]:
        queue = Queue(Clock())
        queue.add(ONE, 0)
        first = await taken(queue)
        queue.add(ONE, 0)
        during = await taken(queue)
        queue.done(ONE)
        return [first, during, await taken(queue)]

    assert asyncio.run(story()) == [ONE, None, ONE]


def test_a_new_key_wakes_a_waiting_worker() -> None:
    async def story() -> object:
        queue = Queue(asyncio.get_running_loop().time)
        queue.add(TWO, 60)
        waiting = asyncio.create_task(queue.take())
        await asyncio.sleep(0)
        queue.add(ONE, 0)
        async with asyncio.timeout(5):
            return await waiting

    assert asyncio.run(story()) == ONE
