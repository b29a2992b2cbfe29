"""Lock that allows one writer per destination.

`flock` detects a holder on the same machine at once, and the kernel releases it when the holder ends. On some network
file systems `flock` does nothing. The holder therefore also writes its name into the lock file and touches the file at
regular intervals. A holder on another machine is considered dead once the file's time no longer changes.
"""

import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import json_object
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode

BEAT_SECONDS = 5.0
"""Seconds between two updates of the lock file's modification time by the holder."""

SILENCE_SECONDS = 30.0
"""Seconds without an update, by the clock of the waiting program, after which a holder is considered dead."""

LOST_SECONDS = 24.0
"""Seconds without a successful update after which a holder ends its attempt. Less than `SILENCE_SECONDS`, so the
holder ends before others consider it dead.
"""


@dataclass(frozen=True, slots=True)
class LockFile:
    """A lock file, at a `path` relative to the root `claim` of a mounted claim."""

    claim: Path
    path: str

    def open(self) -> int:
        """Open the file, which is made if it is missing, and return its descriptor, which the caller closes.

        Raises OSError if it is no regular file, or if a folder on the way is missing.
        """
        parent, _, name = self.path.rpartition("/")
        with ClaimFolder.at(self.claim, parent) as folder:
            return folder.shared(name)

    def __str__(self) -> str:
        return str(self.claim / self.path)


@contextmanager
def held(file: LockFile, name: str, stop: Stop, log: Log, *, silence: float = SILENCE_SECONDS) -> Iterator[None]:
    """Hold the lock of the file during the `with` block. `name`, such as that of a run, tells people who holds it.

    If the file still names a holder on another machine, first wait `silence` seconds to see whether that holder lives.
    If the lock is lost during the block, `stop` is set. Raises AttemptError: CONFLICT (5) if another program holds the
    lock, TRANSIENT (10) at the end of the block if the lock was lost. Raises StoppedError if the work must stop, and
    OSError if the file cannot be opened or written.
    """
    descriptor = file.open()
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise _taken(file, _holder(descriptor)) from None
        except OSError as error:
            log.warning("The file system has no locks: going by the time of the lock file", error=str(error))
        _await_silence(descriptor, file, stop, log, silence)
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


def _await_silence(descriptor: int, file: LockFile, stop: Stop, log: Log, silence: float) -> None:
    holder = _holder(descriptor)
    if not holder or holder.get("machine") == socket.gethostname():
        return
    log.info("A program of another machine held the lock: waiting for signs of life", holder=str(holder.get("holder")))
    seen, end = os.fstat(descriptor).st_mtime_ns, time.monotonic() + silence
    while time.monotonic() < end:
        stop.sleep(min(1.0, silence / 10))
        if os.fstat(descriptor).st_mtime_ns != seen:
            raise _taken(file, _holder(descriptor))


@dataclass
class _Heart:
    """Work of the thread that updates the lock file's modification time. If that fails for too long, it sets `stop`."""

    descriptor: int
    stop: Stop
    log: Log
    over: threading.Event = field(default_factory=threading.Event)
    lost: str = ""
    """Message if the lock was lost; empty while it is held."""

    def beat(self) -> None:
        beaten = time.monotonic()
        while not self.over.wait(BEAT_SECONDS):
            try:
                os.utime(self.descriptor)
                beaten = time.monotonic()
            # All errors are caught: whatever the error is, the attempt must not go on with a lock that looks dead.
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


def _taken(file: LockFile, holder: dict[str, object]) -> AttemptError:
    name = holder.get("holder", "an unknown program")
    message = f"{name} on {holder.get('machine', 'some machine')} writes to the same destination (lock file {file})"
    return AttemptError(ExitCode.CONFLICT, "Locked", message)
