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
    """A value of a YAML document, with the positions of the value (`mark`) and of its key (`key_mark`).

    `data` is the whole plain value, with all values in it. `children` holds a node for each value of a dict or list,
    under the same key or index; it is empty for scalars. `file` is the file of the positions if that is not the file of
    the document: a patch of an environment put the value there.
    """

    data: Data
    mark: Mark
    key_mark: Mark
    children: "dict[str, Node] | list[Node]" = field(default_factory=dict)
    file: str = ""

    @classmethod
    def at(cls, data: Data, mark: Mark) -> "Node":
        """Return the node of plain data that is at one place as a whole, such as a line of a program."""
        if isinstance(data, dict):
            return cls(data, mark, mark, {key: cls.at(value, mark) for key, value in data.items()})
        return cls(data, mark, mark, [cls.at(value, mark) for value in data] if isinstance(data, list) else {})

    def child(self, part: str | int) -> "Node | None":
        """Return the node of a field (a string) or of a list item (an index from 0); None if it does not exist.

        A field that is not there is also found in another case, which some kinds allow.
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
        """Return the deepest node that exists on `path`, and whether it is the node at the end of `path`."""
        node = self
        for part in path:
            below = node.child(part)
            if below is None:
                return node, False
            node = below
        return node, True


@dataclass(frozen=True, slots=True)
class Unplaced:
    """The plain value of a document without the positions of its values, which are read again on demand.

    `text` is the content of the whole file, and `index` the position of this document in it, from 0. The function
    `nodes` returns the root nodes of all documents of `text`, by index.
    """

    data: Data
    text: str
    index: int
    nodes: Callable[[str], Mapping[int, Node]]


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: the path of its file, its index in that file from 0, and its content (`given`).

    `refused` are the paths of values that the reader refused; later findings about these values are dropped. `pins` are
    the entries of the lock file that were put into it, each as the name of its section, a blank and its key; `pinned`
    are the paths of these values. `construct` is the path of the construct in a program that stands for the document.
    """

    file: str
    index: int
    given: Node | Unplaced
    refused: frozenset[FieldPath] = frozenset()
    pins: tuple[str, ...] = ()
    pinned: frozenset[FieldPath] = frozenset()
    construct: str = ""

    @property
    def data(self) -> Data:
        """The plain value of the document."""
        return self.given.data

    @property
    def root(self) -> Node:
        """The root node, with all positions. The file may be parsed again for it, so use `data` if that is enough."""
        given = self.given
        return given if isinstance(given, Node) else given.nodes(given.text)[given.index]

    def locate(self, path: FieldPath, anchor: Anchor = Anchor.VALUE) -> Location:
        """Return the location of a field: of its value or its key, as `anchor` says.

        A missing field is located at the key of the nearest parent that exists. A mapping or list that begins on a
        later line than its key is located at the key, because its own position is that of its first child.
        """
        root = self.root
        node, exact = root.nearest(path)
        below_key = isinstance(node.data, dict | list) and node.mark.line > node.key_mark.line
        at_value = anchor is Anchor.VALUE and exact and not below_key
        mark = node.mark if at_value or node is root else node.key_mark
        return Location(node.file or self.file, mark.line, mark.column)
