"""Where things stand in the user's files: marks, locations, diagnostics."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import Any

from stowplan.schema.diagnostics import Anchor, FieldPath, Finding, Severity, dotted
from stowplan.schema.records import dataclass

Data = Any
"""Plain JSON data: dict with string keys, list, str, int, float, bool or None."""


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


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its position, that of its key, and its children's nodes.

    `data` is the whole plain value below this node; `children` mirrors it for dicts and lists and is empty for
    scalars.
    """

    data: Data
    mark: Mark
    key_mark: Mark
    children: "dict[str, Node] | list[Node]" = field(default_factory=dict)

    def child(self, part: str | int) -> "Node | None":
        """The node one step down, or None where there is none.

        A key may be written in another case: see `fold_keys`.
        """
        if isinstance(self.children, dict):
            return self._under(part) if isinstance(part, str) else None
        if isinstance(part, int) and 0 <= part < len(self.children):
            return self.children[part]
        return None

    def _under(self, key: str) -> "Node | None":
        if isinstance(self.children, dict) and key not in self.children:
            key = next((known for known in self.children if known.lower() == key.lower()), key)
        return self.children.get(key) if isinstance(self.children, dict) else None

    def nearest(self, path: FieldPath) -> "tuple[Node, bool]":
        """The deepest node on `path`, and whether the whole path exists."""
        node = self
        for part in path:
            below = node.child(part)
            if below is None:
                return node, False
            node = below
        return node, True


@dataclass(frozen=True, slots=True)
class Unplaced:
    """The plain value of a document whose nodes nobody has asked for yet.

    `nodes` makes them for all documents of the `text`, of which this is the one at `index`.
    """

    data: Data
    text: str
    index: int
    nodes: Callable[[str], Sequence[Node]]


@dataclass(frozen=True, slots=True)
class Unread:
    """What a document says that nobody holds any more; `again` reads it from its text."""

    again: "Callable[[], Document]"

    @property
    def data(self) -> Data:
        """The plain value."""
        return self.again().data


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in the repository: `file` is relative to it, with forward slashes."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: its file, its index in that file from 0, and what it says.

    `refused` are the paths of values that were found wrong on reading: nobody need hear of them again.
    """

    file: str
    index: int
    given: Node | Unplaced | Unread
    refused: frozenset[FieldPath] = frozenset()

    @property
    def data(self) -> Data:
        """Its plain value."""
        return self.given.data

    @property
    def root(self) -> Node:
        """Its value with all positions. Ask for `data` where those are not needed: they may have to be found first."""
        given = self.given
        if isinstance(given, Unread):
            return given.again().root
        return given if isinstance(given, Node) else given.nodes(given.text)[given.index]

    def locate(self, path: FieldPath, anchor: Anchor = Anchor.VALUE) -> Location:
        """The position of a field; for one that is absent, the key of the nearest one above it.

        A mapping or list that begins on a later line than its key would be pointed at by its first child, so its key
        stands for it.
        """
        root = self.root
        node, exact = root.nearest(path)
        below_key = isinstance(node.data, dict | list) and node.mark.line > node.key_mark.line
        at_value = anchor is Anchor.VALUE and exact and not below_key
        mark = node.mark if at_value or node is root else node.key_mark
        return Location(self.file, mark.line, mark.column)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding with its place; what users see. Sorts by place, then code, path and text.

    One with a number in `more` stands for that many of its code and file that are not told one by one.
    """

    code: str
    severity: Severity
    location: Location
    field_path: str
    message: str
    hint: str
    more: int = 0

    @property
    def sort_key(self) -> tuple[Location, str, str, str]:
        return self.location, self.code, self.field_path, self.message


def diagnose_at(location: Location, found: Finding) -> Diagnostic:
    """`found`, at a place that is known."""
    return Diagnostic(found.code, found.severity, location, dotted(found.path), found.message, found.hint)


def diagnose(document: Document, found: Finding) -> Diagnostic:
    """`found`, placed in its document."""
    return diagnose_at(document.locate(found.path, found.anchor), found)


MOST_ALIKE = 100
"""Diagnostics of one code and severity in one file that are told one by one. Nobody reads more, and a hostile file
could hold hundreds of thousands."""

_Alike = tuple[str, str, Severity]


class Report:
    """The diagnostics of one run. Stages only add; the command line reads."""

    def __init__(self) -> None:
        self._seen: dict[Diagnostic, None] = {}
        self._alike: Counter[_Alike] = Counter()
        self._rest: dict[_Alike, Diagnostic] = {}

    def add(self, *diagnostics: Diagnostic) -> None:
        """Keep each diagnostic once, and count those that are too many of their kind."""
        for each in diagnostics:
            if each in self._seen:
                continue
            alike = (each.location.file, each.code, each.severity)
            if each.more or self._alike[alike] >= MOST_ALIKE:
                self._leave_out(alike, each)
            else:
                self._alike[alike] += 1
                self._seen[each] = None

    def _leave_out(self, alike: _Alike, each: Diagnostic) -> None:
        rest = self._rest.get(alike)
        more = (each.more or 1) + (rest.more if rest else 0)
        place = min(each.location, rest.location) if rest else each.location
        message = f"{more:,} more of {each.code} in this file are not told one by one."
        self._rest[alike] = Diagnostic(each.code, each.severity, place, "", message, "Correct the others first.", more)

    def add_findings(self, document: Document, findings: Iterable[Finding]) -> None:
        """Keep findings of one document, placed in it; but none of a value that was refused on reading."""
        self.add(*(diagnose(document, found) for found in findings if found.path not in document.refused))

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """All of them, sorted by place and code."""
        return sorted((*self._seen, *self._rest.values()), key=lambda d: d.sort_key)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(d.severity is Severity.ERROR for d in (*self._seen, *self._rest.values()))
