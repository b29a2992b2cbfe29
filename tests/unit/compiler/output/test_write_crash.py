"""A run that is killed at any point leaves a tree that the next run repairs."""

import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from stowplan.compiler.model import OutputFile
from stowplan.compiler.output import inventory
from stowplan.compiler.output.inventory_files import PENDING, is_inventory
from stowplan.schema.meta import SpecId
from tests.unit.outputs import config_map, files, folders, in_one_file, last_inventory, output, written

KILLED = 9
CALLS = {"open", "write", "__exit__", "close", "mkdir", "rmdir", "unlink", "replace", "flock"}
"""Names of the C functions that reach the file system; a file is flushed and closed by its `__exit__`."""

OTHER, MORE = SpecId("SampleSet", "dev", "gone"), SpecId("SampleSet", "new", "set")
OUTPUTS = {
    "before": [
        output("ml/a.yaml"),
        output("ml/b.yaml"),
        output("dev/gone/c.yaml", spec=OTHER),
        output("_cluster/d.yaml", spec=OTHER),
    ],
    "after": [
        output("ml/a.yaml"),
        output("ml/b.yaml", config_map("b", "x" * 20_000)),
        output("new/set/e.yaml", spec=MORE),
        output("_cluster/d.yaml", config_map("d", "2"), spec=MORE),
    ],
    "other": [output("ml/a.yaml"), output("other/f.yaml")],
    "empty": [],
}


def killed(step: int, out: Path, outputs: Sequence[OutputFile]) -> bool:
    """Write in a child that is killed just before its n-th system call; return whether it made so many calls."""

    def watch(_frame: FrameType, event: str, argument: Any) -> None:
        nonlocal step
        if event == "c_call" and argument.__name__ in CALLS:
            step -= 1
            if step < 0:
                os._exit(KILLED)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the test runner may have threads
        child = os.fork()
    if child == 0:
        sys.setprofile(watch)
        written(out, outputs)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, KILLED)
    return os.waitstatus_to_exitcode(status) == KILLED


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the tree that each list of outputs creates in an empty folder."""
    root = tmp_path_factory.mktemp("trees")
    for name, outputs in OUTPUTS.items():
        assert written(root / name, outputs)[1] == []
    return {name: root / name for name in OUTPUTS}


def crashes(out: Path, base: Path, outputs: Sequence[OutputFile]) -> Iterator[int]:
    """Copy `base` to `out` and kill a run there, one call later each time; yield the number of the call."""
    for step in count():
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(base, out)
        if not killed(step, out, outputs):
            return
        yield step


@pytest.fixture(params=["", "0.1.0"], ids=["one file for each spec", "one file"])
def before(tmp_path: Path, trees: dict[str, Path], request: pytest.FixtureRequest) -> Path:
    """The output before the run that is killed, with its inventory as this version or 0.1.0 writes it."""
    if not request.param:
        return trees["before"]
    in_one_file(shutil.copytree(trees["before"], tmp_path / "before"))
    return tmp_path / "before"


def test_a_killed_run_loses_no_entry_and_the_next_run_repairs_its_output(
    tmp_path: Path, trees: dict[str, Path], before: Path
) -> None:
    """The inventory is the last to change: at each point it has the old or the new entry of each file in place.

    The next run may compile the same, something else or nothing, or be killed too, before a third one.
    """
    out, again = tmp_path / "out", tmp_path / "again"
    wanted = {name: (files(tree), folders(tree)) for name, tree in trees.items()}
    old, new = files(before), wanted["after"][0]
    manifests = {path: content for path, content in new.items() if not is_inventory(path)}
    entries = [{each.path: each for each in last_inventory(folder).entries} for folder in (before, trees["after"])]
    states, inventories, of_two = set(), set(), set()
    for step in crashes(out, before, OUTPUTS["after"]):
        now = files(out)
        state = frozenset(now.items()), frozenset(folders(out))
        if state not in states:
            states.add(state)
            found, problems = inventory.read(out)
            assert problems == []
            assert all(each in (some.get(each.path) for some in entries) for each in found.entries)
            assert {path for path in now if not is_inventory(path) and path in old} <= found.paths()
            if {path: content for path, content in now.items() if is_inventory(path)}.items() - old.items():
                assert manifests.items() <= now.items()
            inventories.add(found)
            for following, outputs in OUTPUTS.items():
                shutil.copytree(out, again)
                assert written(again, outputs)[1] == []
                assert files(again) == wanted[following][0]
                assert following != "after" or folders(again) == wanted[following][1]
                shutil.rmtree(again)
        killed(step, out, OUTPUTS["other"])
        state = frozenset(files(out).items()), frozenset(folders(out))
        if state not in of_two:
            of_two.add(state)
            assert written(out, OUTPUTS["before"])[1] == []
            assert files(out) == wanted["before"][0]
    assert len(states) > 8, "the run was killed in too few different states to mean anything"
    assert len(inventories) > 2


@pytest.mark.parametrize("content", [b"", b"# Generated by Sto", b'{"format": "stowplan.dev/inventory/v1"}\n{"pa'])
def test_half_written_temporary_files_are_cleaned_away(tmp_path: Path, trees: dict[str, Path], content: bytes) -> None:
    out = shutil.copytree(trees["before"], tmp_path / "out")
    (out / "half").mkdir()
    for path in (".stowplan-tmp-0", "ml/.stowplan-tmp-17", "half/.stowplan-tmp-3", PENDING):
        (out / path).write_bytes(content)
    assert written(out, OUTPUTS["before"])[1] == []
    assert files(out) == files(trees["before"])
    assert folders(out) == folders(trees["before"])
