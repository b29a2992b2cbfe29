"""Keeps two writers off one dataset, wherever they run and however they reach it.

A sync speaks to the metadata engine and has no mount, and its client knows neither locks nor files that are made only
if they are not there. So the lock is of the kind that needs no such thing: everybody writes a flag of his own, then
looks at the flags of the others (the one-bit algorithm of Burns and Lamport). Of two that want to enter, the one with
the smaller name stays and the other one lowers its flag; whoever holds the lock is waited for.

A flag is a file whose name holds who it is, whether it holds the lock, and a number that grows while its owner lives:

    lock/<who>.<e or h>.<number>

So a listing tells all, whatever a mount remembers of files. A flag that stands still for long enough, as seen by
whoever waits, has no owner any more; on the same machine that is known at once.
"""

import contextlib
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.tasks import owner
from stowplan.agents.cache.drivers.juicefs.tasks.state import State
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.exit_codes import ExitCode

BEAT_SECONDS = 8.0
SILENCE_SECONDS = 30.0
"""A flag that stood still for so long, by the clock of whoever waits, has no owner any more."""

LOST_SECONDS = 24.0
"""A holder that could not move its flag for so long gives up, before others may think that it is gone."""

PATIENCE_SECONDS = 600.0
"""How long another holder is waited for. After that the attempt ends, and the Job may make another one."""

LOOK_SECONDS = 1.0
ENTERING, HOLDING = "e", "h"
FOLDER = "lock/"


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of one owner."""

    who: str
    state: str
    number: int

    @property
    def path(self) -> str:
        return f"{FOLDER}{self.who}.{self.state}.{self.number}"


@dataclass
class Other:
    """Another owner, as it was seen so far."""

    number: int
    since: float


@dataclass
class Lock:
    """The lock of one dataset, for one owner."""

    state: State
    run: str
    stop: Stop
    log: Log
    silence: float = SILENCE_SECONDS
    patience: float = PATIENCE_SECONDS
    who: str = ""
    _flags: list[Flag] = field(default_factory=list)
    """Those that are up, the newest last."""
    _number: int = 0
    _others: dict[str, Other] = field(default_factory=dict)
    _lost: str = ""

    def __post_init__(self) -> None:
        self.who = self.who or f"{self.run}-{secrets.token_hex(4)}"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the lock; AttemptError (10) if others do for too long, or if it was lost meanwhile."""
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
            # The work ends by `stop` when the lock is lost, and that is no word of what happened.
            self.check()
            raise
        finally:
            over.set()
            beating.join()
            if not self._lost:
                with contextlib.suppress(Exception):
                    self._lower()

    def check(self) -> None:
        """AttemptError (10) if the lock was lost."""
        if self._lost:
            raise AttemptError(ExitCode.TRANSIENT, "LockLost", self._lost)

    def _enter(self) -> None:
        end, told = time.monotonic() + self.patience, False
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
                if not told:
                    self.log.info("Another task writes to the dataset: waiting for its end", other=ahead)
                    told = True
                self._pause(end, ahead)
        except BaseException:
            with contextlib.suppress(Exception):
                self._lower()
            raise

    def _pause(self, end: float, ahead: str = "another task") -> None:
        if time.monotonic() > end:
            message = f"{ahead} writes to the same dataset, and has not come to its end for {self.patience:.0f} s"
            raise AttemptError(ExitCode.TRANSIENT, "Locked", message)
        self.stop.sleep(LOOK_SECONDS)

    def _ahead(self) -> str:
        """Who is to be waited for without a flag: a holder, or one who wants to enter and has the smaller name."""
        flags = self._look()
        return min((flag.who for flag in flags if flag.state == HOLDING or flag.who < self.who), default="")

    def _look(self) -> list[Flag]:
        """The flags of all others that may be alive. Those of the dead are taken away."""
        begin = time.monotonic()
        found = self.state.read()
        slow = time.monotonic() - begin > BEAT_SECONDS / 2
        flags = [(flag, content) for name, content in found.items() if (flag := _flag(name)) and flag.who != self.who]
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
            # What keeps this one waiting may keep the other one from moving its flag.
            other.since = now
        return now - other.since > self.silence

    def _raise(self, state: str) -> None:
        """Shows a flag with the next number. The one before stays until the next call: it harms nobody."""
        before, flag = self._flags, Flag(self.who, state, self._number)
        self._number += 1
        self._flags = [*before, flag]
        self.state.write({flag.path: owner.told()})
        if len(before) > 1:
            self.state.remove([each.path for each in before])
            self._flags = [flag]

    def _lower(self) -> None:
        if self._flags:
            kept, self._flags = self._flags, []
            self.state.remove([each.path for each in kept])
            # Another name: a flag that was lowered in between must not look as if it stood still.
            self.who = f"{self.run}-{secrets.token_hex(4)}"

    def _beat(self, over: threading.Event) -> None:
        moved = time.monotonic()
        while not over.wait(BEAT_SECONDS):
            try:
                self._raise(HOLDING)
                holders = [f for name in self.state.read() if (f := _flag(name)) and f.state == HOLDING]
                if stranger := next((flag.who for flag in holders if flag.who != self.who), None):
                    self._lose(f"{stranger} took the lock: this task was silent for too long")
                    return
                moved = time.monotonic()
            except BaseException as error:
                if self.stop.is_set():
                    return
                self.log.warning("Cannot show that this task is alive: trying again", error=str(error))
                if time.monotonic() - moved > LOST_SECONDS:
                    self._lose(f"Could not hold the lock of the dataset: {error}")
                    return

    def _lose(self, message: str) -> None:
        self._lost = message
        self.stop.set("failure")


def _flag(name: str) -> Flag | None:
    if not name.startswith(FOLDER):
        return None
    parts = name.removeprefix(FOLDER).rsplit(".", 2)
    if len(parts) != 3 or parts[1] not in (ENTERING, HOLDING) or not parts[2].isdecimal():
        return None
    return Flag(parts[0], parts[1], int(parts[2]))
