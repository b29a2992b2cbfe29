"""Lists and mappings of a YAML document whose end has not been read yet, and nodes that an alias can name."""

from dataclasses import dataclass, field
from typing import NamedTuple

from stowplan.compiler.diagnostics.document import Node
from stowplan.compiler.diagnostics.locations import Mark


class Anchored(NamedTuple):
    """A finished node with an anchor; `size` is the number of values in it, `height` the depth of its nesting.

    A scalar has size 1 and height 0.
    """

    node: Node
    size: int
    height: int


@dataclass(slots=True)
class OpenList:
    """A list whose end has not been read yet. `size` and `height` are as for `Anchored`, of the part that was read."""

    mark: Mark
    key_mark: Mark
    anchor: str | None
    size: int = 1
    height: int = 1
    children: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class OpenMapping:
    """A mapping whose end has not been read yet.

    `entry`: position of the key whose value comes next; None while a key comes next. `key` is that key; None for a
    merge key (`<<`) and for a refused key. `merged` are the mappings that the merge key names, and `before_merge` the
    keys before the merge key. `size` and `height` are as for `Anchored`, of the part that was read.
    """

    mark: Mark
    key_mark: Mark
    anchor: str | None
    size: int = 1
    height: int = 1
    children: dict[str, Node] = field(default_factory=dict)
    entry: Mark | None = None
    key: str | None = None
    merging: bool = False
    merge_mark: Mark | None = None
    merged: list[dict[str, Node]] = field(default_factory=list)
    before_merge: frozenset[str] = frozenset()
