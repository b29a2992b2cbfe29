"""Work that is distributed over processes."""

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from stowplan.compiler.compiling import processes


@pytest.mark.parametrize("number", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(number: int) -> None:
    assert list(processes.mapped(lambda item: item * item, range(100), number)) == [item * item for item in range(100)]


def test_the_number_of_processes_can_be_set() -> None:
    def who(_: int) -> int:
        return os.getpid()

    assert set(processes.mapped(who, range(5), 1)) == {os.getpid()}
    assert os.getpid() not in set(processes.mapped(who, range(5), 2))


@pytest.mark.parametrize("number", [1, 2])
def test_an_exception_of_a_worker_is_raised(number: int) -> None:
    def fail(item: int) -> int:
        return 10 // item

    with pytest.raises(ZeroDivisionError):
        list(processes.mapped(fail, [1, 0], number))


def test_worker_that_dies_is_an_error() -> None:
    with pytest.raises(BrokenProcessPool):
        list(processes.mapped(os._exit, [0, 3], 2))


def test_items_are_shared_and_not_pickled() -> None:
    unpicklable: list[Callable[[], int]] = [lambda: 3, lambda: 4]
    assert list(processes.mapped(lambda make: make(), unpicklable, 2)) == [3, 4]


def test_nothing_is_left_running() -> None:
    list(processes.mapped(abs, range(10), 2))
    assert multiprocessing.active_children() == []


@pytest.fixture
def hundred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(100)))


@pytest.mark.usefixtures("hundred")
@pytest.mark.parametrize(
    ("files", "number"),
    [
        ({}, processes.MOST),
        ({"cpu.max": "max 100000\n"}, processes.MOST),
        ({"cpu.max": "200000 100000\n"}, 2),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "9900000 100000\n"}, processes.MOST),
        ({"cpu.max": "what\n"}, processes.MOST),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, processes.MOST),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 3),
    ],
)
def test_processes_respect_the_cpu_limit_of_a_container(files: dict[str, str], number: int, tmp_path: Path) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    assert processes.processes(tmp_path) == number


def test_processors_that_this_process_may_not_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert processes.processes(tmp_path) == 1
