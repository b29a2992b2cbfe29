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

_SWITCHES = "voluntary_ctxt_switches:"


class Idle:
    """Looks at all processes of the session whose leader is `session`, while they are waited for.

    In the claim others can put a pipe into the place of a file after every check, and Git would wait forever when it
    opens one.
    """

    def __init__(self, session: int) -> None:
        self._session = session
        self._seen: dict[str, str] = {}
        self._since: float | None = None

    def reset(self) -> None:
        """Begin again: the program had something to do, or itself was made to wait."""
        self._since = None

    def check(self) -> None:
        """Raise AttemptError (10) if nothing ran since an earlier check, at least `IDLE_SECONDS` ago."""
        now = time.monotonic()
        if self._since is not None and now - self._since < IDLE_SECONDS:
            return
        seen = _sleeping(self._session)
        if self._since is not None and seen and seen == self._seen:
            message = f"A program did nothing for {IDLE_SECONDS:.0f} seconds: files were replaced while it read them"
            raise AttemptError(ExitCode.TRANSIENT, "Idle", message)
        self._seen, self._since = seen, now


def _sleeping(session: int) -> dict[str, str]:
    """Return how often each thread of a session gave up the processor; nothing if one runs, or waits for a disk."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        # Each may end at any moment.
        with suppress(OSError):
            if os.getsid(int(process.name)) != session:
                continue
            for thread in (process / "task").iterdir():
                words = (thread / "status").read_text(errors="replace").split()
                if words[words.index("State:") + 1] not in "SZ":
                    return {}
                # Some kernels have no such line.
                if _SWITCHES in words:
                    found[str(thread)] = words[words.index(_SWITCHES) + 1]
    return found
