"""A run succeeds only if all listed objects are present, and it always ends."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError, StoppedError, of_any
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.remotes.s3.journal import WINDOW
from stowplan.agents.transfer.run import TransferRun
from stowplan.agents.transfer.settings import settings
from stowplan.agents.transfer.thread_pool import Countdown, ThreadPool
from stowplan.schema.agents.marker import marker_path
from stowplan.schema.agents.transfer_config import TransferConfig
from tests.agents.transfer.agent import Cube, files
from tests.hostile.s3.server import Server


class PanicError(BaseException):
    """What a library in another language raises: no Exception."""


def panic() -> None:
    raise PanicError


def leave() -> None:
    raise SystemExit(0)


def ended(call: Callable[[], None], seconds: float = 10) -> BaseException | None:
    """What a call raises; the test fails where it hangs."""
    errors: list[BaseException] = []

    def work() -> None:
        try:
            call()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it hangs"
    return errors[0] if errors else None


@pytest.mark.parametrize("odd", [{"k07"}, {f"k{number:02}" for number in range(20)}], ids=["one", "all"])
def test_etag_that_no_header_can_hold(server: Server, cube: Cube, odd: set[str]) -> None:
    server.objects = {f"k{number:02}": b"x" for number in range(20)}
    server.etags = dict.fromkeys(odd, '"a\r\nx-evil: 1"')
    done = cube.download(run="run-1")
    assert (done.code, done.last["reason"]) == (10, "BadAnswer"), done.output
    assert not (cube.state / "complete.json").exists()


@pytest.mark.parametrize("task", [panic, leave])
@pytest.mark.parametrize("count", [1, 50])
def test_a_task_that_dies_of_anything_fails_the_run(task: Callable[[], None], count: int) -> None:
    def work() -> None:
        pool = ThreadPool(4, Stop(), Log(), of_any)
        with pool:
            for _ in range(count):
                pool.give(task)
            pool.end()

    error = ended(work)
    assert isinstance(error, Exception)
    assert not isinstance(error, StoppedError)


def test_workers_that_are_gone_are_no_reason_to_wait() -> None:
    stop = Stop()
    pool = ThreadPool(2, stop, Log(), of_any)
    for _ in range(2):
        pool._tasks.put(None)
    for each in pool._threads:
        each.join(5)
    pool._tasks.put(panic)
    assert isinstance(ended(pool.drain), RuntimeError)
    pool._tasks.put(panic)
    assert isinstance(ended(lambda: pool.give(panic)), RuntimeError)


def test_a_part_that_dies_of_anything_is_not_done() -> None:
    ends: list[Exception | None] = []
    countdown = Countdown(2, ends.append)
    for task in (panic, lambda: None):
        ended(lambda task=task: countdown.run(task))  # type: ignore[misc]
    (error,) = ends
    assert isinstance(error, Exception)


def test_large_and_small_objects_and_folders_are_complete(server: Server, cube: Cube) -> None:
    server.objects = {"a": b"", "b/": b"", "b/c": b"c" * 2000, "big": bytes(12 << 20), "more": bytes(2 << 20)}
    done = cube.download(run="run-1")
    assert done.code == 0, done.output
    assert files(cube.data) == {key: data for key, data in server.objects.items() if not key.endswith("/")}
    assert cube.upload(run="run-2").code == 0


def test_objects_that_are_there_hold_up_no_others(server: Server, cube: Cube, tmp_path: Path) -> None:
    """More objects than may be done before an earlier one is, of which the first is there already."""
    server.objects = {"a": b"a"}
    assert cube.download().code == 0
    server.objects |= {f"b{number:05}/": b"" for number in range(WINDOW + 10)}
    done = cube.download()
    assert done.code == 0, done.output


@dataclass(frozen=True)
class Careless:
    """An engine that leaves something out and takes no notice."""

    files: int
    size: int

    def download(self, work: TransferWork, state: ClaimFolder, completion: Completion) -> str:
        completion.begin()
        self.upload(work, state)
        work.progress.add(size=100 - self.size)
        return "All went well"

    def upload(self, work: TransferWork, state: ClaimFolder | None) -> str:  # noqa: ARG002 - as an engine is called
        work.progress.files_total, work.progress.bytes_total = 3, 100
        work.progress.add(files=3 - self.files)
        return "All went well"


@pytest.mark.parametrize("upload", [False, True])
@pytest.mark.parametrize("state", [False, True])
@pytest.mark.parametrize(("files_", "size"), [(0, 0), (1, 0), (0, 1)])
def test_a_run_that_left_something_out_has_no_marker(
    tmp_path: Path, cube: Cube, files_: int, size: int, *, upload: bool, state: bool
) -> None:
    sides = (cube.local(), cube.remote()) if upload else (cube.remote(), cube.local())
    fields = {**cube.config(*sides), "state": cube.config(*sides)["state"] if state or not upload else None}
    reported = settings(TransferConfig.model_validate(fields), {"STOWPLAN_RUN": "run-1"})
    work = TransferWork(AttemptOutcome("run-1", None), Stop(), Log(), Redactor(()), 0)
    run = TransferRun(reported, Careless(files_, size), work)
    complete = cube.state / "complete.json"
    if files_ or (size and not upload):
        with pytest.raises(AttemptError, match="missing"):
            run.all()
        assert not complete.exists()
        assert not (cube.claim / marker_path("run-1")).exists()
    else:
        assert run.all() == "All went well"
        assert complete.exists() == (state or not upload)
