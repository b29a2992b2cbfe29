"""Read a YAML file into documents with positions, as kubectl reads it.

kubectl and Argo CD use sigs.k8s.io/yaml, whose parser is a port of libyaml. libyaml itself, bound by PyYAML, gives the
same events, with one exception: it accepts `%YAML 1.2`.
"""

import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Protocol

import yaml

from stowplan.compiler.diagnostics.document import Document, Node, Unplaced
from stowplan.compiler.diagnostics.locations import Lines, Location, Mark
from stowplan.compiler.diagnostics.report import Diagnostic, Report, diagnose_at
from stowplan.compiler.yaml import lookalikes, problems
from stowplan.compiler.yaml.open_collections import Value
from stowplan.compiler.yaml.tree_builder import TreeBuilder
from stowplan.compiler.yaml.wording import named, shown
from stowplan.schema.diagnostics import FieldPath, Finding, Severity, finding

MAX_DOCUMENTS = 1_000
"""Maximum number of documents in a file. libyaml restarts after each broken one, which copies the rest of the file."""

MAX_DIRECTIVES = 100
"""Maximum number of lines that begin with `%`. libyaml compares each `%TAG` with all earlier ones: 1 MiB takes 20 s."""

_BREAKS = "\n\r\x85\u2028\u2029"
_DIRECTIVE = re.compile(f"(?:^|(?<=[{_BREAKS}]))%")
_SEPARATOR = re.compile(f"(?:^|(?<=[{_BREAKS}]))---(?![^ \t{_BREAKS}])")
"""Separator of documents; it ends a document at the start of any line, even inside an open quote."""

_TEMPLATE_TAG = re.compile(r" *(\{[{%])")
_NOTHING_MORE = re.compile(r"\s*(?:\Z|---|\.\.\.)")

_TAB_IN_INDENT = re.compile(" *(\t)")


@cache
def _forbidden() -> re.Pattern[str]:
    """Return a pattern for characters that are not printable in YAML 1.1 (section 5.1); libyaml refuses the same ones.

    The pattern also matches a second byte order mark at the start: libyaml skips that, and its positions are then off
    by one. The pattern is compiled on first use, because that is slow and most commands parse no file.
    """
    return re.compile("^\ufeff|[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(text: str, file: str) -> tuple[list[Document], list[Diagnostic]]:
    """Return the documents of a YAML file in order, and its diagnostics; never raises.

    `text` is the content of the file, and `file` the path that diagnostics name. Empty documents are skipped. A
    document is omitted if it cannot be parsed, exceeds a limit, has an invalid alias or is not a mapping; the other
    documents are read. A document with a duplicate key (the last one counts), a key that is not a string (it is
    dropped) or an invalid tag (its scalar is a string) is included, so that the rest is checked.

    If there are no diagnostics, the documents do not hold the positions of their values, which take ten times the
    memory of `text`; `nodes` reads the positions again for the few documents of later diagnostics.
    """
    reader = _read(text, file)
    if diagnostics := reader.report.diagnostics:
        return [Document(file, each.index, reader.placed(each), each.refused) for each in reader.roots], diagnostics
    return [Document(file, each.index, Unplaced(each.value.data, text, each.index, nodes)) for each in reader.roots], []


@lru_cache(maxsize=64)
def nodes(text: str) -> dict[int, Node]:
    """Return the root nodes, with all positions, of the documents in the file content `text`, by index from 0."""
    reader = _read(text, "")
    return {each.index: reader.placed(each) for each in reader.roots}


def _read(text: str, file: str) -> "_Reader":
    reader = _Reader(text.removeprefix("\ufeff"), file)
    reader.read()
    return reader


@dataclass(frozen=True, slots=True)
class _Root:
    """The root of a document. Offsets in `value` count from the offset `base` of the text."""

    index: int
    value: Value
    base: int
    refused: frozenset[FieldPath]


class _ParserMark(Protocol):
    """A position from libyaml. Events and errors have different types for it, with the same attribute."""

    index: int


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.roots: list[_Root] = []
        self.report = Report()
        self._text = text
        self._file = file
        self._started = 0
        self._base = 0

    def read(self) -> None:
        if self._is_refused():
            return
        start = 0
        for _ in range(MAX_DOCUMENTS):
            following = self._read_from(start)
            if following is None:
                return
            start = following
        self._refuse_documents(start)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    def placed(self, root: _Root) -> Node:
        """Return the root node of a document, with the positions of all values."""
        return root.value.placed(lambda at: self._lines.mark(root.base + at))

    def _is_refused(self) -> bool:
        """Whether libyaml must not parse the file, which is then reported."""
        conflict = lookalikes.conflict(self._text)
        if conflict is not None:
            self._find(conflict, "SP101", *problems.CONFLICT)
            return True
        forbidden = _forbidden().search(self._text)
        if forbidden is not None:
            self._find(
                forbidden.start(),
                "SP104",
                f"YAML cannot hold the character U+{ord(forbidden[0]):04X}.",
                "Remove it, or write it as an escape in double quotes.",
            )
            return True
        directives = [match.start() for match in _DIRECTIVE.finditer(self._text)]
        if len(directives) > MAX_DIRECTIVES:
            message = f'More than {MAX_DIRECTIVES} lines begin with "%", which makes them directives.'
            self._find(directives[MAX_DIRECTIVES], "SP101", message, "Remove them.")
            return True
        return False

    def _read_from(self, start: int) -> int | None:
        """Read documents from the offset `start` up to and including the first broken one.

        Return the offset of the document after the broken one; None if there is no further document.
        """
        self._base = latest = start
        builder = TreeBuilder(self._mark)
        try:
            for event in yaml.parse(self._text[start:], Loader=yaml.CSafeLoader):
                if isinstance(event, (yaml.NodeEvent, yaml.CollectionEndEvent)):
                    builder.feed(event)
                    if builder.stopped:
                        break
                elif isinstance(event, yaml.DocumentStartEvent):
                    latest = self._offset(event.end_mark)
                    self._started += 1
                    if self._started > MAX_DOCUMENTS:
                        self._refuse_documents(latest)
                        return None
                elif isinstance(event, yaml.DocumentEndEvent):
                    self._finish(builder)
                    builder = TreeBuilder(self._mark)
            else:
                return None
        except yaml.MarkedYAMLError as error:
            if not any(found.code == "SP117" for _, found in builder.found):
                self._explain(error, latest)
        self._report(builder)
        following = _SEPARATOR.search(self._text, latest + 1)
        return following.start() if following else None

    def _finish(self, builder: TreeBuilder) -> None:
        self._report(builder)
        root = builder.root
        if root is None or root.data is None:
            return
        if isinstance(root.data, dict):
            refused = frozenset(found.path for _, found in builder.found if found.severity is Severity.ERROR)
            self.roots.append(_Root(self._started - 1, root, self._base, refused))
            return
        message = f"A document must be a mapping; this one is {named(root.data)}."
        hint = 'Begin with "apiVersion:" and "kind:"; a space must follow each ":".'
        self._add(self._location(self._base + root.at), finding("SP111", (), message, hint))

    def _report(self, builder: TreeBuilder) -> None:
        for at, found in builder.found:
            self._add(self._location(self._base + at), found)

    def _explain(self, error: yaml.MarkedYAMLError, latest: int) -> None:
        """Report an error of libyaml in plain words, at its cause; `latest` is the offset of the broken document."""
        problem = error.problem or ""
        message, hint = problems.PROBLEMS.get(
            problem, (f"The YAML cannot be parsed: {problem}.", "Look for a stray sign.")
        )
        place = self._offset(error.problem_mark)
        blank = lookalikes.first_blank(self._text, latest, place)
        if blank is not None:
            self._add(self._location(blank), lookalikes.problem(self._text[blank]))
            return
        opened = self._offset(error.context_mark) if error.context_mark else place
        tab = self._begins(_TAB_IN_INDENT, place)
        template = self._begins(_TEMPLATE_TAG, opened)
        if "directive" in f"{error.context} {problem}":
            place, (message, hint) = opened, problems.DIRECTIVE_PROBLEM
        elif template is not None:
            place, (message, hint) = template, problems.TEMPLATE
        elif message == problems.FLOW and _NOTHING_MORE.match(self._text, place):
            place, message = opened, problems.FLOW_OPEN
        elif message == problems.FLOW:
            mark = self._lines.mark(opened)
            message = message.format(f"{mark.line}:{mark.column}")
        elif tab is not None:
            place, (message, hint) = tab, problems.TAB
        elif problem == "found character that cannot start any token":
            message, hint = f'A value cannot begin with "{shown(self._text[place])}".', "Put it in quotes."
        elif (message, hint) in problems.NOTICED_LATE:
            place = opened
        self._find(place, "SP101", message, hint)

    def _begins(self, pattern: re.Pattern[str], offset: int) -> int | None:
        """Return the offset of group 1 of `pattern` if the line at `offset` begins with `pattern`; otherwise None."""
        match = pattern.match(self._text, offset - self._lines.mark(offset).column + 1)
        return match.start(1) if match else None

    def _refuse_documents(self, offset: int) -> None:
        self._find(offset, "SP108", f"The file holds more than {MAX_DOCUMENTS:,} documents.", "Split the file.")

    def _find(self, offset: int, code: str, message: str, hint: str) -> None:
        self._add(self._location(offset), finding(code, (), message, hint))

    def _location(self, offset: int) -> Location:
        mark = self._lines.mark(offset)
        return Location(self._file, mark.line, mark.column)

    def _add(self, location: Location, found: Finding) -> None:
        self.report.add(diagnose_at(location, found))

    def _mark(self, at: int) -> Mark:
        """Return the position of an offset in the part that is being parsed."""
        return self._lines.mark(self._base + at)

    def _offset(self, mark: _ParserMark | None) -> int:
        """Return the offset in the file of a position from libyaml; for None, that of the part being parsed.

        The line in `mark` is not used, because libyaml ends lines at NEL, LS and PS too.
        """
        return self._base + (mark.index if mark else 0)
