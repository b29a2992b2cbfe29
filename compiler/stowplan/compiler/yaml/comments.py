"""Comments and blank lines of a YAML document: which field each belongs to, and how they are written again.

ruamel.yaml keeps a comment with the field before it, so it cannot tell a comment at the end of a line from one above
the next field. Here a comment on a line of its own belongs to the field below it, unless it is indented more.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import yaml

from stowplan.compiler.diagnostics.document import Node
from stowplan.schema.diagnostics import FieldPath

END: FieldPath = ("",)
"""Stands for the end of the document. No field has this path."""

_DASH = 2
"""Characters from the dash of a list item to the item."""


@dataclass(slots=True)
class Note:
    """The comments of one field: lines above it, the rest of its line, and lines below it. Each begins with `#`.

    A blank line is an empty string.
    """

    above: list[str] = field(default_factory=list)
    beside: str = ""
    below: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return all comments, without blank lines."""
        return [line for line in (*self.above, self.beside, *self.below) if line]


class _Comment(NamedTuple):
    line: int
    column: int
    text: str
    alone: bool


class _Field(NamedTuple):
    line: int
    column: int
    path: FieldPath


def read(text: str, root: Node) -> dict[FieldPath, Note]:
    """Return the comments and blank lines of a document by the path of their field; under `END`, those after the last.

    `text` is a file with this document alone, and `root` has the positions of its values. Under the empty path are
    comments beside what begins the document.
    """
    fields = _fields(root)
    lines = [each.line for each in fields]
    notes: dict[FieldPath, Note] = {}
    for comment in _comments(text):
        index = bisect_right(lines, comment.line)
        last = fields[index - 1] if index else None
        following = fields[index] if index < len(fields) else None
        if not comment.alone:
            notes.setdefault(last.path if last else (), Note()).beside = comment.text
        elif last and _follows(comment, last, following):
            earlier = (fields[place] for place in range(index - 1, -1, -1))
            home = next((each for each in earlier if each.column <= comment.column), last)
            notes.setdefault(home.path, Note()).below.append(comment.text)
        else:
            notes.setdefault(following.path if following else END, Note()).above.append(comment.text)
    return notes


def written(text: str, root: Node, notes: Mapping[FieldPath, Note]) -> str:
    """Return the document `text` with the comments and blank lines in `notes`, which are as `read` returns them.

    Comments already in `text` stay. Notes at a path that is neither `END` nor that of a field or list item of `text`
    are dropped. `root` has the positions of the values in `text`.
    """
    fields = _fields(root)
    lines = text.splitlines()
    beside: dict[int, list[str]] = {}
    more: dict[tuple[int, int], list[str]] = {}
    for index, (line, _, path) in enumerate(fields):
        note = notes.get(path)
        if note is None:
            continue
        indent = " " * (len(lines[line - 1]) - len(lines[line - 1].lstrip(" ")))
        beside.setdefault(line, []).extend([note.beside] if note.beside else [])
        more.setdefault((line, 1), []).extend(f"{indent}{each}" if each else "" for each in note.above)
        later = (fields[place] for place in range(index + 1, len(fields)))
        end = next((each.line for each in later if each.path[: len(path)] != path), len(lines) + 1)
        more.setdefault((end, 0), []).extend(f"{indent}{each}" for each in note.below)
    result: list[str] = []
    for number in range(1, len(lines) + 2):
        result += [*more.get((number, 0), ()), *more.get((number, 1), ())]
        if number <= len(lines):
            result.append("  ".join([lines[number - 1], *dict.fromkeys(beside.get(number, ()))]))
    result += [each for each in notes.get(END, Note()).above if each]
    return "".join(f"{line}\n" for line in result)


def words(text: str) -> Counter[str]:
    """Return the comments of a file, each with the number of times that it occurs, without blank lines."""
    return Counter(comment.text for comment in _comments(text) if comment.text)


def _follows(comment: _Comment, last: _Field, following: _Field | None) -> bool:
    """Return whether a comment on a line of its own belongs to the field above it.

    It does if it is indented more than the next field, or looks like a further item of the list above it.
    """
    if not comment.text:
        return False
    item = comment.text.removeprefix("#").lstrip().startswith("- ")
    if item and isinstance(last.path[-1], int) and last.column == comment.column:
        return True
    return following is not None and comment.column > following.column


def _fields(root: Node) -> list[_Field]:
    """Return all fields and list items in the order of the document, with the position of the key or the dash."""
    return sorted(_below(root, ()), key=lambda each: (each.line, len(each.path), each.column))


def _below(node: Node, path: FieldPath) -> Iterator[_Field]:
    children = node.children.items() if isinstance(node.children, dict) else enumerate(node.children)
    for part, child in children:
        mark = child.key_mark if isinstance(part, str) else child.mark
        yield _Field(mark.line, mark.column - (0 if isinstance(part, str) else _DASH), (*path, part))
        yield from _below(child, (*path, part))


def _comments(text: str) -> Iterator[_Comment]:
    """Yield comments and blank lines. They are what stands between the tokens of YAML."""
    end = 0
    for token in yaml.scan(text, Loader=yaml.CSafeLoader):
        start = token.start_mark.index
        if start > end:
            yield from _between(text, end, start)
        if isinstance(token, yaml.ScalarToken) and token.style in ("|", ">"):
            header = text[start : text.find("\n", start)]
            yield from _between(text, start + len(header.partition("#")[0]), start + len(header))
        end = max(end, token.end_mark.index)
    yield from _between(text, end, len(text))


def _between(text: str, start: int, end: int) -> Iterator[_Comment]:
    number = text.count("\n", 0, start) + 1
    begun = start > 0 and text[start - 1] != "\n"
    offset = start - (text.rfind("\n", 0, start) + 1)
    pieces = text[start:end].split("\n")
    for index, piece in enumerate(pieces):
        alone = index > 0 or not begun
        comment = piece.strip()
        column = (offset if index == 0 else 0) + len(piece) - len(piece.lstrip()) + 1
        if comment.startswith("#"):
            yield _Comment(number + index, column, comment, alone)
        elif not comment and alone and index < len(pieces) - 1:
            yield _Comment(number + index, column, "", alone=True)
