"""Work that is shared out to processes."""

import multiprocessing
import os
from collections.abc import Callable

import pytest

from stowplan.compiler import parallel


@pytest.mark.parametrize("number", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(number: int) -> None:
    assert list(parallel.mapped(lambda item: item * item, range(100), number)) == [item * item for item in range(100)]


def test_there_are_as_many_processes_as_asked_for() -> None:
    def who(_: int) -> int:
        return os.getpid()

    assert set(parallel.mapped(who, range(5), 1)) == {os.getpid()}
    assert os.getpid() not in set(parallel.mapped(who, range(5), 2))


@pytest.mark.parametrize("number", [1, 2])
def test_an_exception_comes_out(number: int) -> None:
    def fail(item: int) -> int:
        return 10 // item

    with pytest.raises(ZeroDivisionError):
        list(parallel.mapped(fail, [1, 0], number))


def test_a_process_that_dies_is_told() -> None:
    with pytest.raises(RuntimeError, match="processes ended with"):
        list(parallel.mapped(os._exit, [0, 3], 2))


def test_what_is_there_is_shared_and_not_sent() -> None:
    unpicklable: list[Callable[[], int]] = [lambda: 3, lambda: 4]
    assert list(parallel.mapped(lambda make: make(), unpicklable, 2)) == [3, 4]


def test_nothing_is_left_running() -> None:
    list(parallel.mapped(abs, range(10), 2))
    assert multiprocessing.active_children() == []
