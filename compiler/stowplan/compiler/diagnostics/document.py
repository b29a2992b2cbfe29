"""YAML documents: plain data, and the positions of its values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stowplan.compiler.diagnostics.locations import Location, Mark
from stowplan.schema.diagnostics import Anchor, FieldPath

Data = Any
"""Plain JSON data: dict with string keys, list, str, int, float, bool or None."""


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
        """The child node, or None if it does not exist.

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
    """The plain value of a document whose nodes have not been needed yet.

    `nodes` reads the nodes of all documents of `text`, by index; this document has `index`.
    """

    data: Data
    text: str
    index: int
    nodes: Callable[[str], Mapping[int, Node]]


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: its file, its index in that file from 0, and its content.

    `refused`: the paths of values that the reader refused; later findings about them are dropped.
    """

    file: str
    index: int
    given: Node | Unplaced
    refused: frozenset[FieldPath] = frozenset()

    @property
    def data(self) -> Data:
        """The plain value."""
        return self.given.data

    @property
    def root(self) -> Node:
        """The value with all positions. Use `data` if positions are not needed: they may have to be read first."""
        given = self.given
        return given if isinstance(given, Node) else given.nodes(given.text)[given.index]

    def locate(self, path: FieldPath, anchor: Anchor = Anchor.VALUE) -> Location:
        """The location of a field; for a missing field, the key of the nearest parent.

        A mapping or list that begins on a later line than its key is located at its key, since its own position is that
        of its first child.
        """
        root = self.root
        node, exact = root.nearest(path)
        below_key = isinstance(node.data, dict | list) and node.mark.line > node.key_mark.line
        at_value = anchor is Anchor.VALUE and exact and not below_key
        mark = node.mark if at_value or node is root else node.key_mark
        return Location(self.file, mark.line, mark.column)
