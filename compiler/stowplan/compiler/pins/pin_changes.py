"""What differs between two lock files: the pins that were added, moved and removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from stowplan.compiler.pins.substitution import entry
from stowplan.library.dialects.reading.floating import Section
from stowplan.schema.lock import Lock, Pin

_SHOWN = 12
"""Digits of a digest or commit that people see."""


class Moving(StrEnum):
    """What became of a pin."""

    ADDED = "added"
    MOVED = "moved"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class PinChange:
    """One entry that differs, by its section and key. `before` and `after` are None where a lock file lacks it."""

    section: Section
    key: str
    before: Pin | None
    after: Pin | None

    @property
    def what(self) -> Moving:
        """What became of the pin."""
        if self.before is None:
            return Moving.ADDED
        return Moving.MOVED if self.after else Moving.REMOVED

    @property
    def revisions(self) -> str:
        """The short revisions before and after, with an arrow between the two of a moved one."""
        return " → ".join(filter(None, self.sides))

    @property
    def sides(self) -> tuple[str, str]:
        """The short revisions before and after, each without the name of the hash; empty where there is no entry."""
        before, after = (
            each.revision.removeprefix("sha256:")[:_SHOWN] if each else "" for each in (self.before, self.after)
        )
        return before, after

    @property
    def about(self) -> str:
        """What is known of the pin as it is now, or as it was: subject and date of a commit, or amount of objects."""
        pin = self.after or self.before
        return ", ".join(pin.known) if pin else ""


def pin_changes(before: Lock | None, after: Lock | None) -> tuple[PinChange, ...]:
    """Return what differs between two lock files, by section and key; None is a lock file that is not there.

    Entries for the same revision are the same, whatever else they say.
    """
    found = []
    for section in Section:
        keys = {key for lock in (before, after) if lock for key in getattr(lock, section.value)}
        for key in sorted(keys):
            old, new = (entry(lock, section, key) if lock else None for lock in (before, after))
            if old is None or new is None or old.revision != new.revision:
                found.append(PinChange(section, key, old, new))
    return tuple(found)


def records(found: Sequence[PinChange]) -> list[dict[str, Any]]:
    """Return a record for each change: `section`, `key`, `change` (`Moving`), and `before` and `after` if known."""
    return [
        {
            "section": each.section.value,
            "key": each.key,
            "change": each.what.value,
            **{
                side: pin.model_dump(mode="json", exclude_none=True)
                for side, pin in (("before", each.before), ("after", each.after))
                if pin
            },
        }
        for each in found
    ]
