"""`stowplan watch` as a process: what it says of edits, and how it ends."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stowplan.compiler.generate import starter

COMMAND = Path(sys.executable).with_name("stowplan")
JOB = "out/ml/training-mnist-train/job-mnist-train-training-node.yaml"
PATIENCE_SECONDS = 60


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    starter.write(tmp_path)
    return tmp_path


class Watching:
    """The command in a separate process."""

    def __init__(self, repo: Path, *before: str) -> None:
        self._log = repo / "log.txt"
        with self._log.open("w") as log:
            self.process = subprocess.Popen([*before, COMMAND, "watch", repo], stdout=log, stderr=subprocess.STDOUT)

    def until(self, condition: Callable[[str], bool]) -> str:
        """Wait until the condition holds for the output, and return the output."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not condition(text := self._log.read_text()):
            assert self.process.poll() is None, text
            assert time.monotonic() < end, text
            time.sleep(0.05)
        return text


@pytest.fixture
def watching(repo: Path) -> Iterator[Watching]:
    command = Watching(repo)
    try:
        yield command
    finally:
        command.process.kill()
        command.process.wait()


def num_nodes(repo: Path, before: str, after: str) -> None:
    spec = repo / "specs/mnist-train.yaml"
    spec.write_text(spec.read_text().replace(before, after))


def programs(pid: int) -> list[bytes]:
    """The command lines of the children of a process."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{child}/cmdline").read_bytes() for child in children]


def test_an_edit_is_compiled_and_an_error_is_reported(repo: Path, watching: Watching) -> None:
    watching.until(lambda text: "51 created" in text)
    if sys.platform == "linux":  # Node.js is started before the first edit
        watching.until(lambda _: any(b"compose.js" in program for program in programs(watching.process.pid)))
    num_nodes(repo, "numNodes: 2", "numNodes: 3")
    watching.until(lambda text: text.count(" created, ") == 2)
    assert "completions: 3\n" in (repo / JOB).read_text()
    num_nodes(repo, "numNodes: 3", "numNode: 3")
    text = watching.until(lambda text: "nothing written" in text)
    assert "specs/mnist-train.yaml:14:3: error SP201" in text
    assert "completions: 3\n" in (repo / JOB).read_text()
    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(PATIENCE_SECONDS) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_watch_ends_on_a_signal_that_its_parent_ignores(repo: Path, number: signal.Signals) -> None:
    command = Watching(repo, "sh", "-c", "trap '' INT TERM; exec \"$@\"", "sh")
    try:
        command.until(lambda text: "51 created" in text)
        command.process.send_signal(number)
        assert command.process.wait(10) == 0
    finally:
        command.process.kill()
        command.process.wait()
