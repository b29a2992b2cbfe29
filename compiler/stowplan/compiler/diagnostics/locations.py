"""Positions in the user's files: marks, locations, and starts of lines."""

import re
from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in a file: line and column. Both count from 1; columns count characters."""

    line: int
    column: int


PLATFORM_FILES = ("stowplan.yaml", "stowplan.yml")
"""Usual names of the platform file; a repository has one of them."""

PLATFORM_FILE = PLATFORM_FILES[0]

SYNTH = "stowplan synth"
"""The command that usually writes the output."""

_SPECS, _SUFFIXES = "specs/", (".yaml", ".yml")

START = Mark(1, 1)

LINE_BREAK = re.compile(r"\r\n|\r|\n")
"""Line ends of editors. YAML 1.1 ends lines at NEL, LS and PS too; positions here do not count those."""


def is_platform_file(source: str) -> bool:
    """Whether the user's file at `source`, relative to the repository, is a platform file: YAML outside of `specs`."""
    return source.endswith(_SUFFIXES) and not source.startswith(_SPECS)


class Lines:
    """The starts of the lines of one string."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
        self._end = len(text)

    def mark(self, offset: int) -> Mark:
        """Return the position of the character at `offset`, which counts characters of the string from 0.

        For an offset after the end of the string, return the position of the end.
        """
        inside = min(offset, self._end)
        line = bisect_right(self._starts, inside)
        return Mark(line, inside - self._starts[line - 1] + 1)


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A position in a file of the user's repository. `file` is the path relative to it, with forward slashes."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
