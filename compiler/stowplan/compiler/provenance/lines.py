"""Search for the values that stand on a line of a manifest's file."""

from collections.abc import Iterator

from stowplan.compiler.diagnostics.document import Node
from stowplan.schema.diagnostics import FieldPath


def paths_on(root: Node, line: int) -> list[FieldPath]:
    """Return the paths of the innermost values that begin on a line, counted from 1.

    For a line on which no value begins, return the path of the last value that begins above it, such as a string of
    several lines. For a line above the first value, return an empty list.
    """
    begins = list(_begins(root, ()))
    exact = [path for start, path in begins if start == line]
    if exact:
        return [path for path in exact if not any(_is_above(path, other) for other in exact)]
    above = [path for start, path in begins if start < line]
    return above[-1:]


def _begins(node: Node, path: FieldPath) -> Iterator[tuple[int, FieldPath]]:
    """Yield the line of its key and the path of each value below a node, in the order of the file."""
    if path:
        yield node.key_mark.line, path
    children = node.children.items() if isinstance(node.children, dict) else enumerate(node.children)
    for key, child in children:
        yield from _begins(child, (*path, key))


def _is_above(path: FieldPath, other: FieldPath) -> bool:
    return len(path) < len(other) and other[: len(path)] == path
