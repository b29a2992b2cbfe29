"""Everybody with write access to a claim can fill its state folder: agents neither hang, crash, nor follow links.

A marker that cannot be read counts as missing. An agent that must write replaces an obstacle, or fails with a sentence.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import pytest

from stowplan.agents.attempt import safe_files
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.dataset_lock import owner
from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.dataset_lock.mounted_state import MountedState
from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.attempt.lock import LockFile, held
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.control import Control
from stowplan.agents.cache.drivers.juicefs.settling import Settling
from stowplan.agents.cache.drivers.juicefs.tasks.await_sync import SyncMarks
from stowplan.agents.cache.drivers.juicefs.tasks.marks import Marks
from stowplan.agents.cache.drivers.juicefs.tasks.warmup import WarmupTask
from stowplan.agents.cache.drivers.work import TaskOutcome, TaskWork
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.tree import Tree
from stowplan.agents.wait.dataset import command
from stowplan.agents.wait.dataset.readiness import look
from stowplan.schema.agents.cache_config import WarmupConfig
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import COMPLETE_FILE, FAILED_FILE, STATE_DIRECTORY, marker_path, warmup_path
from stowplan.schema.agents.wait_config import Until
from tests.hostile.copies import COPIES, FILES, Copy
from tests.hostile.within import HANGS, within

RUN = "sync-abc"
SECRET = "of another file"
DEEP = b"[" * 60_000
UNTIL: tuple[Until, ...] = ("mounted", "synced", "warmed")


def foreseen(call: Callable[[], object]) -> None:
    """Runs a call that may fail, as long as the failure is one that the program has a sentence for."""
    try:
        within(call)
    except Exception as error:
        if not isinstance(of_any(error, "the test"), AttemptError):
            raise


def link(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere / "file")


def dangling(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere / "nothing")


def link_to_folder(path: Path, elsewhere: Path) -> None:
    path.symlink_to(elsewhere)


def circle(path: Path, elsewhere: Path) -> None:
    path.symlink_to(path)


def pipe(path: Path, elsewhere: Path) -> None:
    os.mkfifo(path)


def directory(path: Path, elsewhere: Path) -> None:
    path.mkdir()
    (path / "inner").write_text("x")


def huge(path: Path, elsewhere: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def deep(path: Path, elsewhere: Path) -> None:
    path.write_bytes(DEEP)


def holding(content: bytes) -> Callable[[Path, Path], None]:
    def write(path: Path, _: Path) -> None:
        path.write_bytes(content)

    return write


MAKERS: dict[str, Callable[[Path, Path], None]] = {
    maker.__name__: maker for maker in (link, dangling, link_to_folder, circle, pipe, directory, huge, deep)
} | {
    f"content-{number}": holding(content)
    for number, content in enumerate(
        [b"", b"\0", b"\xff\xfe", b"null", b"[]", b"1e999", b'"a"', b'{"run": []}', b'{"run": {"a": 1}, "format": "x"}']
        + [
            b'{"run": "' + RUN.encode() + b'", "revision": ' + each + b"}"
            for each in (b"[]", b'"' + b"x" * 5_000 + b'"')
        ]
        + [b'{"boot": 1, "processes": [], "process": 1e999}', b'{"holder": [], "machine": {}}', b"9" * 5_000]
    )
}


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    return outside(tmp_path)


def outside(place: Path) -> Path:
    """A folder outside the claim, with a marker that would count if it were followed to."""
    folder = place / "elsewhere"
    folder.mkdir(parents=True)
    good = {"format": 1, "run": RUN, "result": "succeeded", "exitCode": 0, "secret": SECRET}
    (folder / "file").write_text(json.dumps(good))
    return folder


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    folder = tmp_path / "claim"
    folder.mkdir()
    return folder


def put(claim: Path, path: str, elsewhere: Path, maker: str) -> None:
    place = claim / path
    place.parent.mkdir(parents=True, exist_ok=True)
    MAKERS[maker](place, elsewhere)


def untouched(elsewhere: Path) -> None:
    assert [each.name for each in elsewhere.iterdir()] == ["file"]
    assert SECRET in (elsewhere / "file").read_text()


def seen(folder: Path) -> dict[Path, bytes]:
    """All files below a folder with their content."""
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def work(run: str | None = RUN) -> TaskWork:
    return TaskWork(TaskOutcome(run, None, task="sync"), Stop(), Log(), Redactor(()))


# Markers of a transfer.


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("of_dataset", [True, False])
def test_a_transfer_does_not_believe_a_hostile_marker(
    claim: Path, elsewhere: Path, maker: str, *, of_dataset: bool
) -> None:
    state = claim / STATE_DIRECTORY / "c"
    dataset = claim / "sub" if of_dataset else None
    complete = f"sub/{COMPLETE_FILE}" if of_dataset else f"{STATE_DIRECTORY}/c/complete.json"
    for path in (complete, f"{complete}.tmp", marker_path(RUN), f"{marker_path(RUN)}.tmp", f"sub/{FAILED_FILE}"):
        put(claim, path, elsewhere, maker)
    completion = Completion(claim, state, RUN, dataset)
    assert not within(completion.is_done)
    assert within(lambda: completion.revision) is None
    foreseen(completion.begin)
    foreseen(lambda: completion.end(ExitCode.BAD_SPEC, {}))
    foreseen(lambda: completion.end(ExitCode.DONE, {"revision": "x"}))
    untouched(elsewhere)
    if maker != "directory":
        assert within(completion.is_done)
        assert within(lambda: completion.revision) == "x"
        assert (claim / complete).is_file()
        assert not (claim / complete).is_symlink()


@pytest.mark.parametrize("linked", [STATE_DIRECTORY, f"{STATE_DIRECTORY}/runs", f"{STATE_DIRECTORY}/c", "sub"])
def test_no_marker_is_read_or_written_by_way_of_a_linked_folder(claim: Path, elsewhere: Path, linked: str) -> None:
    (elsewhere / "runs").mkdir()
    for folder in (elsewhere, elsewhere / "runs"):
        (folder / f"{RUN}.json").write_text((elsewhere / "file").read_text())
    before = sorted(elsewhere.rglob("*"))
    place = claim / linked
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(elsewhere)
    for dataset in (None, claim / "sub"):
        completion = Completion(claim, claim / STATE_DIRECTORY / "c", RUN, dataset)
        if linked in (STATE_DIRECTORY, f"{STATE_DIRECTORY}/runs"):
            assert not completion.is_done()
        foreseen(completion.begin)
        foreseen(lambda done=completion: done.end(ExitCode.DONE, {}))  # type: ignore[misc]
        foreseen(lambda done=completion: done.end(ExitCode.BAD_SPEC, {}))  # type: ignore[misc]
    state = MountedState(claim)
    foreseen(lambda: state.write({f"runs/{RUN}.json": b"x", "complete.json": b"x"}))
    foreseen(lambda: state.remove([f"runs/{RUN}.json", "file"]))
    if linked.startswith(STATE_DIRECTORY):
        assert SECRET not in str(within(state.read))
    assert sorted(elsewhere.rglob("*")) == before


# What a transfer keeps between its attempts, and where it copies to.


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("engine", COPIES)
def test_a_copy_replaces_what_has_the_names_of_its_own_files(
    tmp_path: Path, elsewhere: Path, engine: str, maker: str
) -> None:
    """Or says that a folder is there, where it cannot."""
    with COPIES[engine](tmp_path) as copy:
        for name in (*copy.journals, "stowplan-probe", *(f"parts/{each}" for each in copy.parts)):
            put(copy.cube.state, name, elsewhere, maker)
        done = within(copy.download)
        untouched(elsewhere)
        if isinstance(done, str):
            assert copy.copied == FILES
        else:
            assert (maker, done.code) == ("directory", ExitCode.CONFLICT), done


@pytest.mark.parametrize("place", ["parts", "..", "../..", "../../locks"])
@pytest.mark.parametrize("engine", COPIES)
def test_a_copy_enters_no_link_in_the_place_of_its_folder(tmp_path: Path, engine: str, place: str) -> None:
    elsewhere = outside(tmp_path)
    for inner in ("parts", "datacubes/cube/parts", "cube/parts", "locks"):
        (elsewhere / inner).mkdir(parents=True)
        (elsewhere / inner / "file").write_text(SECRET)
    before = seen(elsewhere)
    with COPIES[engine](tmp_path) as copy:
        path = Path(os.path.normpath(copy.cube.state / place))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(elsewhere)
        done = within(copy.download)
        assert isinstance(done, AttemptError)
        assert done.code == ExitCode.CONFLICT
        assert "is a link or a file" in str(done) or "leads through a link" in str(done)
        assert seen(elsewhere) == before


@pytest.mark.parametrize("engine", COPIES)
def test_a_copy_writes_no_file_by_way_of_a_link(tmp_path: Path, engine: str) -> None:
    for number, (place, target) in enumerate(
        [("data", "."), ("data/sub", "."), ("data/a", "file"), ("data/sub/b", "file"), ("data/sub/large", "nothing")]
    ):
        elsewhere = outside(tmp_path / f"{number}")
        with COPIES[engine](tmp_path / f"{number}") as copy:
            (copy.cube.claim / place).parent.mkdir(parents=True, exist_ok=True)
            (copy.cube.claim / place).symlink_to(elsewhere / target)
            done = within(copy.download)
            untouched(elsewhere)
            if target == ".":
                assert isinstance(done, AttemptError), place
                assert done.code == ExitCode.CONFLICT, place
            else:
                assert copy.copied == FILES, (place, done)


@pytest.mark.parametrize(("engine", "run"), [("claim", Copy.download), ("store", Copy.upload), ("hub", Copy.upload)])
def test_a_pipe_that_gets_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, engine: str, run: Callable[[Copy], str | AttemptError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the copy has seen that a file is there."""
    reader = Tree.reader

    def swapped(tree: Tree, key: str) -> int:
        if key == "a" and (tree.where / key).is_file():
            (tree.where / key).unlink()
            os.mkfifo(tree.where / key)
        return reader(tree, key)

    monkeypatch.setattr(Tree, "reader", swapped)
    with COPIES[engine](tmp_path) as copy:
        copy.fill()
        done = within(lambda: run(copy))
        assert isinstance(done, AttemptError)
        assert (done.code, done.reason) == (ExitCode.CONFLICT, "NotAFile")
        assert "a is no regular file" in str(done)


# The lock of a transfer.


@pytest.mark.parametrize("maker", MAKERS)
def test_a_hostile_lock_file_is_no_fault(claim: Path, elsewhere: Path, maker: str) -> None:
    put(claim, "lock", elsewhere, maker)

    def take() -> None:
        with held(LockFile(claim, "lock"), RUN, Stop(), Log(), silence=0.2):
            pass

    foreseen(take)
    untouched(elsewhere)


def test_a_lock_that_cannot_be_touched_ends_the_attempt(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Panic(BaseException):
        """As libraries raise that are written in Rust."""

    def fail(*_: object) -> None:
        raise Panic

    monkeypatch.setattr("stowplan.agents.attempt.lock.BEAT_SECONDS", 0.01)
    monkeypatch.setattr("stowplan.agents.attempt.lock.LOST_SECONDS", 0.05)
    monkeypatch.setattr("stowplan.agents.attempt.lock.os.utime", fail)
    stop = Stop()

    def take() -> None:
        with held(LockFile(claim, "lock"), RUN, stop, Log()):
            stop.sleep(HANGS / 2)  # until the beats that fail stop the attempt

    with pytest.raises(AttemptError, match="Could not hold the lock"):
        within(take)


# The state of a volume.


@pytest.mark.parametrize("maker", MAKERS)
def test_tasks_do_not_believe_a_hostile_state(claim: Path, elsewhere: Path, maker: str) -> None:
    names = ("complete.json", "failed.json", "begun.json", "begun.json.tmp", f"runs/{RUN}.json", "lock/other.h.1")
    for name in names:
        put(claim, f"{STATE_DIRECTORY}/{name}", elsewhere, maker)
    state = MountedState(claim)
    marks = Marks(state, RUN, completes=True)
    past = within(marks.look)
    assert not past.is_done
    assert past.begun in (None, "", "[]", "{'a': 1}", RUN)
    assert SECRET not in str(past.files)
    assert all(len(content) <= 1 << 16 for content in past.files.values())
    foreseen(lambda: marks.begin(past))
    foreseen(lambda: marks.end({}))
    foreseen(lambda: marks.fail(ExitCode.BAD_SPEC))
    untouched(elsewhere)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_hostile_flag_is_waited_for_and_then_taken_away(
    claim: Path, elsewhere: Path, maker: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stowplan.agents.attempt.dataset_lock.lock.LOOK_SECONDS", 0.02)
    put(claim, f"{STATE_DIRECTORY}/lock/a.h.1", elsewhere, maker)
    lock = Lock(MountedState(claim), RUN, Stop(), Log(), silence=0.1, patience=HANGS / 2)

    def take() -> None:
        with lock.held():
            pass

    within(take)
    untouched(elsewhere)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_hostile_owner_is_no_fault(claim: Path, elsewhere: Path, maker: str) -> None:
    put(claim, "flag", elsewhere, maker)
    assert not owner.has_died(safe_files.read(claim, "flag") or b"")


def test_many_files_are_bounded(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_files, "MOST_NAMES", 20)
    monkeypatch.setattr(safe_files, "MOST_BYTES", 1000)
    runs = claim / STATE_DIRECTORY / "runs"
    runs.mkdir(parents=True)
    for number in range(20):
        (runs / f"{number:02}").write_bytes(b"x" * 400)
    found = MountedState(claim).read()
    assert len(found) == 20
    assert sum(map(len, found.values())) <= 1_400
    (runs / "20").touch()
    with pytest.raises(OSError, match="more than 20 files"):
        MountedState(claim).read()


@pytest.mark.parametrize("maker", MAKERS)
def test_a_warmup_does_not_believe_a_hostile_mark_of_its_sync(claim: Path, elsewhere: Path, maker: str) -> None:
    for path in (marker_path(RUN), FAILED_FILE, COMPLETE_FILE):
        put(claim, path, elsewhere, maker)
    marks = SyncMarks(claim, "sync", work("warmup-abc"))
    believed = within(lambda: marks._is_done(RUN))
    # A plain file that names the run is what a sync writes.
    assert believed == (maker in ("content-9", "content-10"))


@pytest.mark.parametrize("maker", MAKERS)
def test_a_hostile_list_of_paths_is_no_fault(claim: Path, elsewhere: Path, maker: str) -> None:
    put(claim, "list", elsewhere, maker)
    config = WarmupConfig.model_validate(
        {
            "task": "warmup",
            "target": {"kind": "SampleSet", "namespace": "ml", "name": "a"},
            "mountPath": str(claim),
            "partitions": 1,
            "file": "list",
            "threads": 1,
            "reportPhase": False,
            "dataset": "a",
            "paths": [],
            "strategy": "sequence",
            "threshold": 90,
        }
    )
    task = WarmupTask(config, work())
    foreseen(lambda: list(task._files()))
    foreseen(lambda: task._mark("sync", ExitCode.DONE))


def test_a_hostile_mark_of_a_warmup_is_replaced(claim: Path, elsewhere: Path) -> None:
    put(claim, warmup_path(0), elsewhere, "link")
    safe_files.write(claim, warmup_path(0), "x")
    assert (claim / warmup_path(0)).read_text() == "x"
    untouched(elsewhere)


@pytest.mark.parametrize("maker", MAKERS)
def test_files_that_look_like_those_of_a_mount_are_not_taken_for_them(claim: Path, elsewhere: Path, maker: str) -> None:
    for name in (".control", ".jfs.control", ".stats", ".jfs.stats"):
        mount = claim / f"with{name}"
        put(mount, name, elsewhere, maker)
        foreseen(Control(mount, Stop()).probe)
        with pytest.raises((AttemptError, OSError)):
            within(Control(mount, Stop()).probe)
        assert within(Settling(mount, Stop()).look).begun == 0
    untouched(elsewhere)


# The wait for a dataset.


@pytest.mark.parametrize("maker", MAKERS)
def test_a_wait_does_not_believe_hostile_markers(claim: Path, elsewhere: Path, maker: str) -> None:
    for path in (COMPLETE_FILE, FAILED_FILE, warmup_path(0), warmup_path(1)):
        put(claim, path, elsewhere, maker)
    for until in UNTIL:
        view = within(partial(look, claim, until))
        assert view.state != "ready" or until == "mounted" or (until == "synced" and maker.startswith("content"))
        assert SECRET not in view.text
        assert len(view.text) < 500


@pytest.mark.parametrize(
    "fields",
    [
        {"partition": []},
        {"partition": {}},
        {"partition": "x"},
        {"partitions": 10**12},
        {"partitions": -1},
        {"partitions": True},
        {"run": "x" * 100_000},
        {"exitCode": []},
        {"result": {}},
    ],
)
def test_a_warmup_marker_of_any_form_is_no_fault(claim: Path, fields: Mapping[str, Any]) -> None:
    good = {"run": RUN, "result": "succeeded", "exitCode": 0, "partition": 0, "partitions": 2, "sync": RUN}
    (claim / warmup_path(0)).parent.mkdir(parents=True)
    (claim / COMPLETE_FILE).write_text(json.dumps({"run": RUN}))
    (claim / warmup_path(0)).write_text(json.dumps({**good, **fields}))
    assert within(lambda: look(claim, "warmed")).state == "waiting"


def test_a_fault_of_the_look_ends_the_wait(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Panic(BaseException):
        pass

    def fail(*_: object) -> None:
        raise Panic

    class EndError(Exception):
        pass

    def end(code: int) -> NoReturn:
        raise EndError(code)

    monkeypatch.setattr(command, "look", fail)
    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(sys, "argv", ["", "--dataset=a", f"--path={claim}"])
    with pytest.raises(EndError, match=str(int(ExitCode.TRANSIENT))):
        within(command.main)
