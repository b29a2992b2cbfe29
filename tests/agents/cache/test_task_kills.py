"""Tasks that are killed repeatedly at any moment, and then finish."""

import contextlib
import os
import random
import time
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from stowplan.agents.cache.drivers.juicefs.sync import LEFTOVERS
from tests.agents.cache.conftest import NewMounts
from tests.agents.cache.task_agent import Dataset, files, warmup_fields
from tests.agents.cache.test_tasks import cached, fill
from tests.agents.cache.volume import FORGETS
from tests.agents.kills import Kills
from tests.agents.waiting import until
from tests.tier import KILLS


def kill_again_and_again(
    dataset: Dataset, task: str, before: Callable[[int], dict[str, Any]], after: Callable[[int], None]
) -> None:
    """SIGKILL at a random time of the work."""
    kills = Kills(KILLS)
    for number in kills:
        with dataset.started(task, before(number), f"run-{number}") as process:
            kills.strike(process)
        assert not children(dataset), "a child outlives its agent"
        after(number)


def children(dataset: Dataset, wait: float = 30) -> list[str]:
    """Arguments of the tasks' own clients, once the dying ones are gone."""
    end = time.monotonic() + wait
    while True:
        found = [
            words for words, variables in processes() if "juicefs" in words and f"HOME={dataset.folder}" in variables
        ]
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.02)


def processes() -> list[tuple[str, list[str]]]:
    """Arguments and variables of all processes."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found.append((words, (folder / "environ").read_text(encoding="utf-8", errors="replace").split("\0")))
    return found


def has_marker(folder: Path, number: int) -> bool:
    return (folder / f".stowplan/runs/run-{number}.json").exists()


def is_left_over(name: str) -> bool:
    """A copy that was killed: under a hidden name until a later sync removes it."""
    return any(fnmatchcase(name.rpartition("/")[2], pattern) for pattern in LEFTOVERS)


def test_a_sync_survives_kills(dataset: Dataset, mounts: NewMounts) -> None:
    # Else it shows files for a moment as they were before the sync replaced them.
    (node,) = mounts(1, options=FORGETS)
    chance = random.Random(7)  # noqa: S311 - content of a test
    now: dict[str, bytes] = {}
    ever: dict[str, set[bytes]] = {}
    marked = 0

    def change(number: int) -> dict[str, Any]:
        names = [f"d{index % 3}/{index}" for index in chance.sample(range(40), 8 if now else 40)]
        # Of another size each time: that is what a sync looks at.
        changed = {name: chance.randbytes(1000 * (number + 1) + index) for index, name in enumerate(names)}
        dataset.put(changed)
        now.update(changed)
        for name, data in changed.items():
            ever.setdefault(name, set()).add(data)
        return dataset.sync_fields()

    def check(number: int) -> None:
        nonlocal marked
        there = {name: data for name, data in files(node.path).items() if not is_left_over(name)}
        assert all(data in ever[name] for name, data in there.items()), "a file is there that is not complete"
        if has_marker(node.path, number):
            marked += 1
            assert there == now, "a run counts as done that is not"
        if (node.path / ".stowplan/complete.json").exists():
            assert has_marker(node.path, number) or there.keys() == now.keys()

    kill_again_and_again(dataset, "sync", change, check)
    ended = dataset.sync("last")
    assert ended.code == 0, ended.output
    assert files(node.path) == now
    assert not list((node.path / ".stowplan/lock").iterdir())


def test_a_removal_survives_kills(dataset: Dataset, mounts: NewMounts) -> None:
    # Else the kernel still knows folders that an interrupted removal has moved to the trash.
    (node,) = mounts(1, options=FORGETS)
    fill(node, {"kept/a": b"a", "d*": b"no pattern"})
    kept = files(node.path)

    def prepare(_: int) -> dict[str, Any]:
        fill(node, {f"d/{number % 4}/{number}": b"x" for number in range(40)} | {"one": b"1"})
        return {"mountPath": str(node.path), "paths": ["d", "one"]}

    def check(number: int) -> None:
        there = files(node.path)
        assert {name: data for name, data in there.items() if not name.startswith(("d/", "one"))} == kept
        if has_marker(node.path, number):
            assert there == kept, "a run counts as done that is not"

    kill_again_and_again(dataset, "rmr", prepare, check)
    prepare(0)
    ended = dataset.rmr(node, "d", "one", run="last")
    assert ended.code == 0, ended.output
    assert files(node.path) == kept


def test_a_removal_goes_on_where_it_was_killed(dataset: Dataset, mounts: NewMounts) -> None:
    (node,) = mounts(1)
    fill(node, {"a": b"a", "b": b"b"})
    (node.path / ".stowplan").mkdir()
    (node.path / ".stowplan/begun.json").write_text('{"format": 1, "run": "rmr-abc"}', encoding="utf-8")
    (node.path / "a").unlink()
    assert dataset.rmr(node, "a", "b", run="rmr-other").code == 4
    assert dataset.rmr(node, "a", "b", run="rmr-abc").code == 0
    assert files(node.path) == {}


@pytest.mark.parametrize("task", ["warmup", "clear"])
def test_work_on_the_cache_survives_kills(dataset: Dataset, mounts: NewMounts, task: str) -> None:
    writer, node = mounts(2)
    data = {f"d{number % 3}/{number}": os.urandom(100_000) for number in range(100)}
    fill(writer, data)
    size = sum(map(len, data.values()))
    warm = warmup_fields(node, after="flowers-sync")

    def prepare(number: int) -> dict[str, Any]:
        node.run("warmup", *(("--evict",) if task == "warmup" else ()), node.path)
        state = writer.path / ".stowplan/runs"
        state.mkdir(parents=True, exist_ok=True)
        marker = f'{{"format": 1, "run": "flowers-sync-{number}", "result": "succeeded", "exitCode": 0}}'
        (state / f"flowers-sync-{number}.json").write_text(marker, encoding="utf-8")
        return warm if task == "warmup" else {"mountPath": str(node.path), "cachePaths": []}

    def check(number: int) -> None:
        marker = writer.path / ".stowplan/warmup/0.json"
        if marker.exists() and f'"run-{number}"' in marker.read_text(encoding="utf-8"):
            assert cached(node) >= size, "a run counts as done that is not"

    kill_again_and_again(dataset, task, prepare, check)
    ended = dataset.warmup(node, "last") if task == "warmup" else dataset.clear(node, "last")
    assert ended.code == 0, ended.output
    if task == "warmup":
        assert cached(node) >= size
    else:
        # What was on its way to the disk goes as soon as it is there.
        until(lambda: cached(node) == 0)
    assert {name: each for name, each in files(writer.path).items() if name in data} == data
