"""Lock that allows one writer per dataset or lineage, on any cluster node, and with or without a mount.

A sync has no mount, and its `juicefs` program offers neither locks nor exclusive creation of files. So the lock uses
the one-bit algorithm of Burns and Lamport, which needs neither. Every program that wants the lock (an owner) writes its
own flag, then reads the flags of the other owners. If two owners want to enter, the owner with the smaller name goes on
and the other removes its flag. Everybody waits for an owner that holds the lock.

A flag is a file. The file's name contains the owner's name, the flag's state (`e` for entering or `h` for holding) and
a number that grows while the owner lives:

    lock/<who>.<e or h>.<number>

So a list of the file names is enough to know all flags, even if a mount caches the contents of files. If the number of
a flag has not changed for `SILENCE_SECONDS`, by the clock of the waiting program, its owner is considered dead. An
owner on the same machine is also dead if its process has ended.
"""

import contextlib
import secrets
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stowplan.agents.attempt.dataset_lock import owner
from stowplan.agents.attempt.dataset_lock.flag import ENTERING, HOLDING, Flag, flag_of
from stowplan.agents.attempt.dataset_lock.state import StateDirectory
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode

BEAT_SECONDS = 8.0
"""Seconds after which a holder replaces its flag by one with a greater number."""

SILENCE_SECONDS = 30.0
"""Seconds without a new flag, by the clock of the waiting program, after which an owner is considered dead."""

LOST_SECONDS = 24.0
"""Seconds without a successful new flag after which a holder ends its attempt. Less than `SILENCE_SECONDS`, so the
holder ends before others consider it dead.
"""

PATIENCE_SECONDS = 600.0
"""Maximum wait for another holder in seconds. Then the attempt ends, and the Job may retry."""

LOOK_SECONDS = 1.0
"""Seconds between two reads of the flags while waiting."""


@dataclass
class Other:
    """Another owner, as last seen."""

    number: int
    """Number of the owner's newest flag."""
    since: float
    """Time, by the monotonic clock, since which this number is known."""


@dataclass
class Lock:
    """Lock of one dataset or lineage, as one owner, of the run named `run`, uses it. Only `held` takes it."""

    state: StateDirectory
    run: str
    stop: Stop
    log: Log
    silence: float = SILENCE_SECONDS
    patience: float = PATIENCE_SECONDS
    """Seconds in place of `SILENCE_SECONDS` and of `PATIENCE_SECONDS`."""
    place: str = "the dataset"
    """What the lock is for, in messages."""
    who: str = ""
    """Name of this owner: the run and random digits. It is changed each time the flags are removed."""
    _flags: list[Flag] = field(default_factory=list)
    """Flags of this owner that exist, newest last."""
    _number: int = 0
    _others: dict[str, Other] = field(default_factory=dict)
    """The other owners that may be alive, by name."""
    _lost: str = ""
    """Message if the lock was lost; otherwise empty."""

    def __post_init__(self) -> None:
        self.who = self.who or f"{self.run}-{secrets.token_hex(4)}"

    @contextmanager
    def held(self, before: Collection[Flag] = ()) -> Iterator[None]:
        """Wait for the lock and hold it during the `with` block. If the lock is lost meanwhile, `stop` is set.

        `before` are the flags of a dead owner whose heir this one is. If that owner held the lock, this one has it at
        once, and at no moment has nobody the lock.
        Raises AttemptError TRANSIENT (10) if others hold the lock for too long, and at the end of the block if the lock
        was lost. Raises StoppedError if the work must stop, and what `state` raises before the block.
        """
        if not self._inherit(before):
            self._enter()
        over = threading.Event()
        beating = threading.Thread(target=self._beat, args=(over,), daemon=True)
        beating.start()
        try:
            yield
            over.set()
            beating.join()
            self.check()
        except BaseException:
            # A lost lock ends the work by `stop`, whose error hides the cause.
            self.check()
            raise
        finally:
            over.set()
            beating.join()
            if not self._lost:
                with contextlib.suppress(Exception):
                    self._lower()

    def check(self) -> None:
        """Raise AttemptError TRANSIENT (10) if the lock was lost."""
        if self._lost:
            raise AttemptError(ExitCode.TRANSIENT, "LockLost", self._lost)

    def _inherit(self, before: Collection[Flag]) -> bool:
        """Replace the flags of the dead owner. Return whether the lock is held now."""
        held = any(flag.state == HOLDING for flag in before)
        if held:
            self._raise(HOLDING)
        self.state.remove(flag.path for flag in before)
        return held

    def _enter(self) -> None:
        end, logged = time.monotonic() + self.patience, False
        try:
            while True:
                self._raise(ENTERING)
                while not (ahead := self._ahead()):
                    if not self._others:
                        self._raise(HOLDING)
                        return
                    self._pause(end)
                    self._raise(ENTERING)
                self._lower()
                if not logged:
                    self.log.info(f"Another task writes to {self.place}: waiting for its end", other=ahead)
                    logged = True
                self._pause(end, ahead)
        except BaseException:
            with contextlib.suppress(Exception):
                self._lower()
            raise

    def _pause(self, end: float, ahead: str = "another task") -> None:
        if time.monotonic() > end:
            message = f"{ahead} writes to {self.place} too, and has not come to its end for {self.patience:.0f} s"
            raise AttemptError(ExitCode.TRANSIENT, "Locked", message)
        self.stop.sleep(LOOK_SECONDS)

    def _ahead(self) -> str:
        """Return the name of the owner to wait for; empty if there is none.

        That is a holder, or an owner with a smaller name that wants the lock.
        """
        flags = self._look()
        return min((flag.who for flag in flags if flag.state == HOLDING or flag.who < self.who), default="")

    def _look(self) -> list[Flag]:
        """Return the flags of all other owners that may be alive. Delete the flags of dead owners."""
        begin = time.monotonic()
        found = self.state.read()
        slow = time.monotonic() - begin > BEAT_SECONDS / 2
        flags = [(flag, content) for name, content in found.items() if (flag := flag_of(name)) and flag.who != self.who]
        newest = {who: max(flag.number for flag, _ in flags if flag.who == who) for who in {f.who for f, _ in flags}}
        dead = {who for who, number in newest.items() if self._is_silent(who, number, slow=slow)}
        dead |= {flag.who for flag, content in flags if owner.has_died(content)}
        gone = [flag.path for flag, _ in flags if flag.who in dead]
        if gone:
            self.log.info("A task that held the lock is gone", other=", ".join(sorted(dead)))
            self.state.remove(gone)
        self._others = {who: other for who, other in self._others.items() if who in newest and who not in dead}
        return [flag for flag, _ in flags if flag.who not in dead]

    def _is_silent(self, who: str, number: int, *, slow: bool) -> bool:
        now = time.monotonic()
        other = self._others.get(who)
        if other is None or other.number != number:
            self._others[who] = Other(number, now)
            return False
        if slow:
            # If reading was slow, the other owner's writes may be slow too, so its silence proves nothing.
            other.since = now
        return now - other.since > self.silence

    def _raise(self, state: str) -> None:
        """Write a flag of this owner with this state and the next number.

        The flag before it stays until the next call or the one after. A program that lists the flags and then reads
        them so finds at least one, unless its read takes longer than `BEAT_SECONDS`.
        """
        before, flag = self._flags, Flag(self.who, state, self._number)
        self._number += 1
        self._flags = [*before, flag]
        self.state.write({flag.path: owner.identity()})
        if len(before) > 2:
            self.state.remove([each.path for each in before[:-1]])
            self._flags = [before[-1], flag]

    def _lower(self) -> None:
        if self._flags:
            kept, self._flags = self._flags, []
            self.state.remove([each.path for each in kept])
            # A new name: after the pause, the old flag's number would look unchanged and its owner dead.
            self.who = f"{self.run}-{secrets.token_hex(4)}"

    def _beat(self, over: threading.Event) -> None:
        moved = time.monotonic()
        while not over.wait(BEAT_SECONDS):
            try:
                self._raise(HOLDING)
                holders = [f for name in self.state.read() if (f := flag_of(name)) and f.state == HOLDING]
                if stranger := next((flag.who for flag in holders if flag.who != self.who), None):
                    self._lose(f"{stranger} took the lock: this task was silent for too long")
                    return
                moved = time.monotonic()
            except BaseException as error:
                if self.stop.is_set():
                    return
                self.log.warning("Cannot show that this task is alive: trying again", error=str(error))
                if time.monotonic() - moved > LOST_SECONDS:
                    self._lose(f"Could not hold the lock of {self.place}: {error}")
                    return

    def _lose(self, message: str) -> None:
        self._lost = message
        self.stop.set("failure")
