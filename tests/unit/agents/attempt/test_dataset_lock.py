"""The lock of a dataset: it has one holder at a time, and dead holders are ignored."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import pytest

from stowplan.agents.attempt.dataset_lock import lock as locks
from stowplan.agents.attempt.dataset_lock.lock import Lock
from stowplan.agents.attempt.dataset_lock.mounted_state import MountedState
from stowplan.agents.attempt.failure import AttemptError, StoppedError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(locks, "BEAT_SECONDS", 0.05)


def lock(folder: Path, run: str = "run", **fields: float) -> Lock:
    return Lock(MountedState(folder), run, Stop(), Log(), **fields)  # type: ignore[arg-type]


def raise_flag(folder: Path, name: str, content: object = None) -> Path:
    """Write the flag of an owner whose process cannot be checked from here."""
    path = folder / ".stowplan/lock" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content or {"boot": "another machine"}), encoding="utf-8")
    return path


def flags(folder: Path) -> list[str]:
    return sorted(each.name for each in (folder / ".stowplan/lock").iterdir())


def owners(folder: Path) -> set[str]:
    """The owners that have flags. One that renews its flag has two for a moment."""
    return {name.split(".")[0] for name in flags(folder)}


def test_one_at_a_time(tmp_path: Path) -> None:
    inside, worst, entered = 0, 0, 0

    def work(number: int) -> None:
        nonlocal inside, worst, entered
        for _ in range(4):
            with lock(tmp_path, f"run-{number}").held():
                inside += 1
                worst, entered = max(worst, inside), entered + 1
                time.sleep(0.01)
                inside -= 1

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert (worst, entered) == (1, 20)
    assert flags(tmp_path) == []


def test_a_dead_holder_on_this_machine_is_ignored_at_once(tmp_path: Path) -> None:
    program = "from stowplan.agents.attempt.dataset_lock.owner import identity; print(identity().decode())"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    raise_flag(tmp_path, "other.h.3", json.loads(ended.stdout))
    begin = time.monotonic()
    with lock(tmp_path).held():
        assert time.monotonic() - begin < 5
        assert not any(name.startswith("other") for name in flags(tmp_path))


@pytest.mark.parametrize("state", ["e", "h"])
def test_a_silent_holder_is_considered_dead(tmp_path: Path, state: str) -> None:
    raise_flag(tmp_path, f"other.{state}.3")
    begin = time.monotonic()
    with lock(tmp_path, silence=0.5).held():
        assert time.monotonic() - begin >= 0.5
        assert not any(name.startswith("other") for name in flags(tmp_path))


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Path]:
    """Another machine, which holds the lock and renews its flag. The flag before stays for one more beat."""
    over = threading.Event()

    def beat() -> None:
        paths = [raise_flag(tmp_path, "other.h.0")]
        while not over.wait(0.5):
            paths.append(raise_flag(tmp_path, f"other.h.{len(paths)}"))
            if len(paths) > 2:
                paths[-3].unlink()

    thread = threading.Thread(target=beat)
    thread.start()
    yield tmp_path
    over.set()
    thread.join()


def test_a_holder_that_lives_is_waited_for(living: Path) -> None:
    with pytest.raises(AttemptError) as caught, lock(living, silence=6.0, patience=8.0).held():
        pass
    assert (caught.value.code, caught.value.reason) == (10, "Locked")
    assert owners(living) == {"other"}


class Recorded(MountedState):
    """A state that records which flags are there at the beginning of each write."""

    seen: ClassVar[list[set[str]]] = []

    def write(self, files: Mapping[str, bytes]) -> None:
        self.seen.append({name for name in self.read() if name.startswith("lock/")})
        super().write(files)


def test_who_reads_the_flags_while_the_holder_renews_its_own_finds_one(tmp_path: Path) -> None:
    """Names are listed before the files are read. One of the listed flags must still be there after a renewal."""
    Recorded.seen.clear()
    with Lock(Recorded(tmp_path), "run", Stop(), Log()).held():
        deadline = time.monotonic() + 30
        while len(Recorded.seen) < 12 and time.monotonic() < deadline:
            time.sleep(0.01)
    listed = Recorded.seen[1:12]
    assert len(listed) == 11
    assert all(before & after for before, after in pairwise(listed)), listed
    assert flags(tmp_path) == []


def test_a_stop_ends_the_wait(living: Path) -> None:
    waiting = lock(living)
    threading.Timer(0.3, waiting.stop.set, ("signal",)).start()
    with pytest.raises(StoppedError), waiting.held():
        pass
    assert owners(living) == {"other"}


def test_of_two_that_enter_the_smaller_name_goes_first(tmp_path: Path) -> None:
    flag = raise_flag(tmp_path, "aaa.e.0")
    with pytest.raises(AttemptError), lock(tmp_path, "bbb", patience=0.3).held():
        pass
    flag.unlink()
    raise_flag(tmp_path, "zzz.e.0")
    waiting = lock(tmp_path, "bbb", patience=0.3)
    seen: list[list[str]] = []
    threading.Timer(0.15, lambda: seen.append(flags(tmp_path))).start()
    with pytest.raises(AttemptError), waiting.held():
        pass
    # It keeps its flag, so the other owner lowers its own.
    assert any(name.startswith("bbb") for name in seen[0])


def hold(held: Lock, do: Callable[[], object]) -> None:
    """Holds the lock until it is lost."""
    with held.held():
        do()
        held.stop.sleep(30)


def test_a_holder_that_cannot_show_that_it_lives_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "LOST_SECONDS", 0.3)

    def take_away() -> None:
        (tmp_path / ".stowplan").rename(tmp_path / "away")
        (tmp_path / ".stowplan").write_text("no folder", encoding="utf-8")

    with pytest.raises(AttemptError) as caught:
        hold(lock(tmp_path), take_away)
    assert (caught.value.code, caught.value.reason) == (10, "LockLost")


def test_a_holder_whose_lock_was_taken_gives_up(tmp_path: Path) -> None:
    with pytest.raises(AttemptError) as caught:
        hold(lock(tmp_path), lambda: raise_flag(tmp_path, "thief.h.0"))
    assert (caught.value.code, caught.value.reason) == (10, "LockLost")
