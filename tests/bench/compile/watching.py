"""The response time of `stowplan watch`."""

import os
import signal
import subprocess
import sys
import time
from typing import IO

from tests.bench.compile import programs, workload
from tests.bench.compile.programs import STOWPLAN, Work

QUIET_SECONDS = 0.5
"""Between an answer and the next edit."""


def edits(work: Work, count: int) -> list[float]:
    """Seconds from the end of each write to the line that says what came of it; the first edit does not count."""
    with subprocess.Popen(
        [STOWPLAN, "watch", work.kept.repo],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **programs.variables(work.kept.cache)},
    ) as process:
        assert process.stdout is not None
        try:
            _answer(process.stdout)
            return [_edit(work, process.stdout) for _ in range(count + 1)][1:]
        finally:
            process.send_signal(signal.SIGINT)


def _edit(work: Work, output: IO[str]) -> float:
    time.sleep(QUIET_SECONDS)
    work.kept.edits += 1
    workload.edit(work.kept.repo, work.kept.edits)
    begin = time.perf_counter()
    _answer(output)
    return time.perf_counter() - begin


def _answer(output: IO[str]) -> None:
    said = []
    for line in output:
        said.append(line)
        if " created, " in line:
            return
    sys.exit(f"stowplan watch said nothing of what it wrote: {''.join(said)[-2000:]}")
