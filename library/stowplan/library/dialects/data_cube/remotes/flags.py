"""Flags of the tools that the old system ran, and the settings that the flags give."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stowplan.schema.diagnostics import FieldPath

BASE: FieldPath = ("spec", "executor", "options", "extraArgs")


def number(text: str) -> int | None:
    """Return a number that is at least 0; None for another string."""
    return int(text) if text.isascii() and text.isdigit() else None


def positive(text: str) -> int | None:
    """Return a number that is at least 1; None for another string."""
    return number(text) or None


def truth(text: str) -> bool | None:
    """Return the value of a switch, true if nothing is written; None for another string."""
    return {"": True, "true": True, "false": False}.get(text)


def word(text: str) -> str | None:
    """Return a string; None for an empty one."""
    return text or None


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag: the setting that replaces it, and how its value is read.

    `setting` is a key of `Arguments.settings`. It is empty for a flag that only concerned the old tool. `takes` is the
    number of values after the flag, -1 for any number. `read` converts the string of a value; it returns None for an
    invalid value. `instead` names the field or option of the spec in messages.
    """

    setting: str = ""
    takes: int = 1
    read: Callable[[str], Any] = word
    instead: str = ""


NOTHING = Flag(takes=0)
"""A switch that only concerned the old tool."""

IGNORED = Flag()
"""A flag with a value that only concerned the old tool."""

NOISE: Mapping[str, Flag] = {"--progress": NOTHING, "--verbose": NOTHING, "--quiet": NOTHING}
"""Flags about the old tool's output."""

SHORT = {"-P": "--progress", "-v": "--verbose", "-vv": "--verbose", "-q": "--quiet"}
"""Short forms of `NOISE`."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """Values that the flags give, by name of the setting or option. Of several equal flags the last one wins.

    A setting is a name such as `parallelism`, which `Cube.setting` knows.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    """Index in `extraArgs` of the flag that gave each setting."""
