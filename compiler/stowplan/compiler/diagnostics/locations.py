"""Positions in the user's files: marks, locations, and where lines begin."""

import re
from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in a file: line and column count from 1, columns in characters."""

    line: int
    column: int


PLATFORM_FILE = "stowplan.yaml"

START = Mark(1, 1)

LINE_BREAK = re.compile(r"\r\n|\r|\n")
"""Where lines end for editors. YAML 1.1 ends them at NEL, LS and PS too; no position of ours counts those."""


class Lines:
    """Where the lines of one text begin."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
        self._end = len(text)

    def mark(self, offset: int) -> Mark:
        """The position of the character at `offset`, counted from 0; of the end of the text for anything beyond."""
        inside = min(offset, self._end)
        line = bisect_right(self._starts, inside)
        return Mark(line, inside - self._starts[line - 1] + 1)


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in the repository: `file` is relative to it, with forward slashes."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
