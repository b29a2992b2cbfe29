"""Agents as processes that begin with their modules loaded: a fork takes a tenth of the time of a start."""

import atexit
import multiprocessing
import os
import resource
import runpy
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import NamedTemporaryFile

from tests.agents.ended import Ended

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "stowplan.agents.cache.task",
        "stowplan.agents.transfer.command",
        "stowplan.agents.transfer.remotes.git",
        "stowplan.agents.transfer.remotes.pvc",
        "stowplan.agents.transfer.remotes.s3",
        # Not the client of the Hub, which reads the environment when it is loaded.
    ]
)


@dataclass(frozen=True)
class Fork:
    """A running agent, and the file with what it says."""

    process: BaseProcess
    said: Path

    def ended(self, seconds: float) -> Ended | None:
        """What came of it; None if it has not ended in this time."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            return None
        return Ended(self.process.exitcode, self.said.read_text(encoding="utf-8", errors="replace"))


@contextmanager
def forked(
    program: str,
    folder: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    largest: int = resource.RLIM_INFINITY,
) -> Iterator[Fork]:
    """A running agent in this folder; it is killed in the end. Its files get at most `largest` bytes."""
    with NamedTemporaryFile() as said:
        given = ([f"stowplan.agents.{program}", *arguments], str(folder), said.name, dict(environment), largest)
        process = _FORKS.Process(target=_run, args=given, daemon=True)
        process.start()
        try:
            yield Fork(process, Path(said.name))
        finally:
            process.kill()
            process.join()
            process.close()


def ended(
    program: str, folder: Path, arguments: Sequence[str], environment: Mapping[str, str], seconds: float = 120
) -> Ended:
    """What an agent in this folder has left behind."""
    with forked(program, folder, arguments, environment) as process:
        result = process.ended(seconds)
    assert result, "It has not ended"
    return result


def _run(words: list[str], folder: str, said: str, environment: dict[str, str], largest: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
    descriptor = os.open(said, os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    sys.stdout = sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = words
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    finally:
        # multiprocessing leaves this out.
        atexit._run_exitfuncs()
