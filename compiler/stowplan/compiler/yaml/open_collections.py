"""Values of a YAML document, and its lists and mappings whose end has not been read yet."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from stowplan.compiler.diagnostics.document import Data, Node
from stowplan.compiler.diagnostics.locations import Mark


class Value(NamedTuple):
    """A finished value: plain data, and the offsets in the text where it and its key begin.

    `children` has the values in a mapping or list, under the same key or index; it is empty for a scalar.
    """

    data: Data
    at: int
    key_at: int
    children: "Mapping[str, Value] | list[Value]" = MappingProxyType({})

    def placed(self, mark: Callable[[int], Mark]) -> Node:
        """Return the node of the value, with the positions that `mark` returns for offsets."""
        children: dict[str, Node] | list[Node]
        if isinstance(self.children, list):
            children = [child.placed(mark) for child in self.children]
        else:
            children = {key: child.placed(mark) for key, child in self.children.items()}
        return Node(self.data, mark(self.at), mark(self.key_at), children)


class Anchored(NamedTuple):
    """A finished value with an anchor; `size` is the number of values in it, `height` the depth of its nesting.

    A scalar has size 1 and height 0.
    """

    value: Value
    size: int
    height: int


@dataclass(slots=True)
class OpenList:
    """A list whose end has not been read yet. `size` and `height` are as for `Anchored`, of the part that was read."""

    at: int
    key_at: int
    anchor: str | None
    size: int = 1
    height: int = 1
    children: list[Value] = field(default_factory=list)


@dataclass(slots=True)
class OpenMapping:
    """A mapping whose end has not been read yet.

    `entry`: offset of the key whose value comes next; None while a key comes next. `key` is that key; None for a merge
    key (`<<`) and for a refused key. `merging` is True while the value of a merge key comes next. `merge_at` is the
    offset of the merge key, `merged` are the mappings that it names, and `before_merge` the keys before it. `size` and
    `height` are as for `Anchored`, of the part that was read.
    """

    at: int
    key_at: int
    anchor: str | None
    size: int = 1
    height: int = 1
    children: dict[str, Value] = field(default_factory=dict)
    entry: int | None = None
    key: str | None = None
    merging: bool = False
    merge_at: int | None = None
    merged: list[Mapping[str, Value]] = field(default_factory=list)
    before_merge: frozenset[str] = frozenset()
