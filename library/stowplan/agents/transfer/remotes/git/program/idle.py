"""Notice that a program waits for what never comes, such as a writer of a pipe in the place of a file."""

import os
import time
from contextlib import suppress
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode

IDLE_SECONDS = 60.0
"""Seconds in which no process of a program ran at all, after which it is ended. A program that computes, waits for a
child or for a server runs many times in this time."""

_SWITCHES = "voluntary_ctxt_switches"


class Idle:
    """Looks at all processes of the session whose leader is `session`, while they are waited for.

    In the claim others can put a pipe into the place of a file after every check, and Git would wait forever when it
    opens one.
    """

    def __init__(self, session: int) -> None:
        self._session = session
        self._seen: dict[str, str] = {}
        self._since = time.monotonic()
        # Most programs end before the first look, which reads the states of all processes of the container.
        self._next = self._since + IDLE_SECONDS / 10

    def reset(self) -> None:
        """Begin again: the program had something to do, or was itself made to wait."""
        self._seen = {}

    def check(self) -> None:
        """Raise AttemptError (10) if nothing has run for `IDLE_SECONDS`. Called often, it looks ten times meanwhile."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + IDLE_SECONDS / 10
        seen = _sleeping(self._session)
        if not seen or seen != self._seen:
            self._seen, self._since = seen, now
        elif now - self._since >= IDLE_SECONDS:
            message = (
                f"Git did nothing for {IDLE_SECONDS:.0f} seconds, so it was ended. It waits like this if others put a"
                " pipe in the place of a file of the clone"
            )
            raise AttemptError(ExitCode.TRANSIENT, "Idle", message)


def _sleeping(session: int) -> dict[str, str]:
    """Return how often each thread of a session gave up the processor; nothing if one runs, or waits for a disk."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        # Each may end at any moment.
        with suppress(OSError):
            if os.getsid(int(process.name)) != session:
                continue
            for thread in (process / "task").iterdir():
                lines = (thread / "status").read_text(errors="replace").splitlines()
                fields = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
                # `S (sleeping)`: in a wait that a signal ends; `Z (zombie)`: over.
                if fields["State"][0] not in "SZ":
                    return {}
                # Some kernels have no such line.
                if _SWITCHES in fields:
                    found[str(thread)] = fields[_SWITCHES]
    return found
