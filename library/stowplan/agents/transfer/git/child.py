"""Runs one program and everything that it starts, until it ends or the attempt does."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.child_process import bound, end
from stowplan.agents.attempt.failure import StoppedError
from stowplan.agents.attempt.stop import Stop

LOOK_SECONDS = 0.2
"""Time between two looks at whether the attempt is over."""

END_SECONDS = 2.0
"""Between SIGTERM and SIGKILL."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended."""

    code: int
    output: bytes
    errors: str


@dataclass(frozen=True, slots=True)
class Call:
    """A program with all that it is given."""

    command: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    feed: bytes = b""
    held: tuple[int, ...] = ()
    """Descriptors that it and its children keep open."""
    look: Callable[[], None] = lambda: None
    """Called now and then while it runs."""


def run(call: Call, stop: Stop) -> Done:
    """Waits for the end; StoppedError, with all of its processes gone, if the attempt ends before."""
    stop.check()
    # A session of its own, so that one signal reaches all. The kernel ends it if this program is killed.
    process = subprocess.Popen(  # noqa: S603 - a list of words, without a shell
        [*bound(), *call.command],
        env=dict(call.environment),
        cwd=call.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        pass_fds=call.held,
    )
    with process:
        try:
            return _wait(process, call, stop)
        finally:
            end(process, END_SECONDS)


def _wait(process: "subprocess.Popen[bytes]", call: Call, stop: Stop) -> Done:
    feed: bytes | None = call.feed
    while True:
        try:
            output, errors = process.communicate(feed, timeout=LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            feed = None
            call.look()
            if stop.is_set():
                raise StoppedError from None
        else:
            return Done(process.returncode, output, errors.decode(errors="replace"))
