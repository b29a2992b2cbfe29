"""Comments of the lock file: those above a key, and those at the end of its line."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import yaml

Path = tuple[str, ...]
"""Keys from the root of the document."""


class Comments(NamedTuple):
    """Comments of one key: the lines above it without their indentation, and the one at the end of its line."""

    above: tuple[str, ...] = ()
    beside: str = ""


class _Line(NamedTuple):
    """Where a key stands, and where the text of its line ends before a comment. All count from 0."""

    path: Path
    number: int
    column: int
    end: int


def collected(text: str) -> dict[Path, Comments]:
    """Return the comments of all keys of a YAML document; those below the last key have the empty path.

    Raises `yaml.YAMLError`.
    """
    lines = text.splitlines()
    found = {each.path: Comments(_above(lines, each.number), _beside(lines, each)) for each in _keys(text)}
    return {**{path: each for path, each in found.items() if any(each)}, (): Comments(_above(lines, len(lines)))}


def restored(text: str, comments: Mapping[Path, Comments]) -> str:
    """Return a document without comments with those of its keys. Raises `yaml.YAMLError`."""
    lines = text.splitlines()
    for each in sorted(_keys(text), key=lambda key: -key.number):
        own = comments.get(each.path, Comments())
        beside = f"  {own.beside}" if own.beside else ""
        lines[each.number] += beside
        lines[each.number : each.number] = [f"{' ' * each.column}{line}".rstrip() for line in own.above]
    lines += comments.get((), Comments()).above
    return "".join(f"{line}\n" for line in lines)


def _keys(text: str) -> Iterator[_Line]:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is not None:
        yield from _below(root, ())


def _below(node: yaml.Node, path: Path) -> Iterator[_Line]:
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        return
    for key, value in node.value:
        own, start = (*path, str(key.value)), key.start_mark
        same = value.end_mark if value.end_mark.line == start.line and value.start_mark.line == start.line else None
        # Without a value on its line, the key is followed by a colon.
        yield _Line(own, start.line, start.column, same.column if same else key.end_mark.column + 1)
        yield from _below(value, own)


def _above(lines: list[str], number: int) -> tuple[str, ...]:
    """Return the comments and blank lines right above a line."""
    first = number
    while first and (not lines[first - 1].strip() or lines[first - 1].lstrip().startswith("#")):
        first -= 1
    return tuple(line.strip() for line in lines[first:number])


def _beside(lines: list[str], key: _Line) -> str:
    rest = lines[key.number][key.end :].strip()
    return rest if rest.startswith("#") else ""
