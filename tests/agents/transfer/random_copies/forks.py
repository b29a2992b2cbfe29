"""Attempts of the transfer agent as processes that begin with its modules: a fork takes a tenth of a start."""

import json
import multiprocessing
import os
import resource
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.agents.ended import Ended

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "stowplan.agents.transfer.command",
        "stowplan.agents.transfer.remotes.huggingface",
        "stowplan.agents.transfer.remotes.pvc",
        "stowplan.agents.transfer.remotes.s3",
    ]
)


@dataclass(frozen=True)
class Attempt:
    """A running attempt, and the file with what it says."""

    process: BaseProcess
    said: Path

    def ended(self, seconds: float) -> Ended | None:
        """What came of it; None if it has not ended in this time."""
        self.process.join(seconds)
        if self.process.exitcode is None:
            return None
        return Ended(self.process.exitcode, self.said.read_text(encoding="utf-8", errors="replace"))


@contextmanager
def attempt(
    folder: Path, config: dict[str, Any], environment: Mapping[str, str], largest: int | None
) -> Iterator[Attempt]:
    """Start an attempt; it is killed in the end. No file can have more than `largest` bytes, as on a full disk."""
    path, said = folder / "config.json", folder / "said.txt"
    path.write_text(json.dumps(config), encoding="utf-8")
    process = _FORKS.Process(target=_run, args=(str(path), str(said), dict(environment), largest), daemon=True)
    process.start()
    try:
        yield Attempt(process, said)
    finally:
        process.kill()
        process.join()
        process.close()


def _run(config: str, said: str, environment: dict[str, str], largest: int | None) -> None:
    if largest is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
    descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    sys.stdout = sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["stowplan.agents.transfer", f"--config={config}", "--allow-loopback"]
    from stowplan.agents.transfer.command import main  # noqa: PLC0415 - the fork server has it already

    os._exit(main())
