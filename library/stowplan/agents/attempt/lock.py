"""Keeps two writers off one destination.

`flock` says at once whether a program of the same machine holds the lock, and ends with its holder. On some network
file systems it does nothing, so the holder also writes who it is and touches the file again and again: a holder of
another machine whose file stands still for long enough is gone.
"""

import fcntl
import json
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import json_object
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode

BEAT_SECONDS = 5.0
SILENCE_SECONDS = 30.0
"""A holder that did not touch the file for so long, by the clock of whoever waits, holds it no more."""

LOST_SECONDS = 24.0
"""A holder that could not touch the file for so long gives up, before others may think that it is gone."""


@contextmanager
def held(path: Path, name: str, stop: Stop, log: Log, *, silence: float = SILENCE_SECONDS) -> Iterator[None]:
    """Holds the lock; AttemptError (5) if another one does, (10) if it was lost. `name` is for people."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise AttemptError(ExitCode.CONFLICT, "NotAFile", f"The lock file {path} is no file: remove it")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _taken(path, _holder(descriptor)) from None
        except OSError as error:
            log.warning("The file system has no locks: going by the time of the lock file", error=str(error))
        _await_silence(descriptor, path, stop, log, silence)
        machine = socket.gethostname()
        _write(descriptor, json.dumps({"holder": name, "machine": machine, "process": os.getpid()}))
        heart = _Heart(descriptor, stop, log)
        beating = threading.Thread(target=heart.beat, daemon=True)
        beating.start()
        try:
            yield
        finally:
            heart.over.set()
            beating.join()
            if heart.lost:
                raise AttemptError(ExitCode.TRANSIENT, "LockLost", heart.lost)
            _write(descriptor, "")
    finally:
        os.close(descriptor)


def _await_silence(descriptor: int, path: Path, stop: Stop, log: Log, silence: float) -> None:
    holder = _holder(descriptor)
    if not holder or holder.get("machine") == socket.gethostname():
        return
    log.info("A program of another machine held the lock: waiting for signs of life", holder=str(holder.get("holder")))
    seen, end = os.fstat(descriptor).st_mtime_ns, time.monotonic() + silence
    while time.monotonic() < end:
        stop.sleep(min(1.0, silence / 10))
        if os.fstat(descriptor).st_mtime_ns != seen:
            raise _taken(path, _holder(descriptor))


@dataclass
class _Heart:
    """Touches the lock file, and ends the attempt if that fails for too long."""

    descriptor: int
    stop: Stop
    log: Log
    over: threading.Event = field(default_factory=threading.Event)
    lost: str = ""

    def beat(self) -> None:
        beaten = time.monotonic()
        while not self.over.wait(BEAT_SECONDS):
            try:
                os.utime(self.descriptor)
                beaten = time.monotonic()
            # Whatever it is, the attempt must not go on without a lock that others see.
            except BaseException as error:
                self.log.warning("Cannot touch the lock file: trying again", error=repr(error))
                if time.monotonic() - beaten > LOST_SECONDS:
                    self.lost = f"Could not hold the lock of the destination: {error!r}"
                    self.stop.set("failure")
                    return


def _holder(descriptor: int) -> dict[str, object]:
    return json_object(os.pread(descriptor, 4096, 0)) or {}


def _write(descriptor: int, text: str) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, text.encode(), 0)
    os.fsync(descriptor)


def _taken(path: Path, holder: dict[str, object]) -> AttemptError:
    name = holder.get("holder", "an unknown program")
    message = f"{name} on {holder.get('machine', 'some machine')} writes to the same destination (lock file {path})"
    return AttemptError(ExitCode.CONFLICT, "Locked", message)
