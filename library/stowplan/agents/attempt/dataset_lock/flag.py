"""Flags of the owners of a lock: files whose names say everything."""

from dataclasses import dataclass

ENTERING, HOLDING = "e", "h"
"""States of a flag: its owner wants the lock, or has the lock."""

FOLDER = "lock/"


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag: the name of its owner, its state (`ENTERING` or `HOLDING`) and its number."""

    who: str
    state: str
    number: int

    @property
    def path(self) -> str:
        return f"{FOLDER}{self.who}.{self.state}.{self.number}"


def flag_of(name: str) -> Flag | None:
    """Return the flag whose path in the state directory is `name`; None for any other file."""
    if not name.startswith(FOLDER):
        return None
    parts = name.removeprefix(FOLDER).rsplit(".", 2)
    if len(parts) != 3 or parts[1] not in (ENTERING, HOLDING) or not parts[2].isdecimal():
        return None
    return Flag(parts[0], parts[1], int(parts[2]))


def is_of(flag: Flag, run: str) -> bool:
    """Return whether a flag is one of this run: its owner's name is that of the run, with random digits at its end."""
    return flag.who.rpartition("-")[0] == run
