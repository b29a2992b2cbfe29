"""Reads plain YAML fast: text in which nothing is unusual gives the data that `yaml_reader` would give.

libyaml makes a tree of its own in one call, and what is made of that has no positions. Text with an alias, a merge
key, a tag, a sign that wants a closer look, a mistake, or of a size or depth that might pass a limit is left to
`yaml_reader`, which explains it. Positions are worked out when somebody asks for them: few specs have findings.
"""

import operator
import re
from collections.abc import Callable
from functools import cache, lru_cache
from math import isfinite
from sys import intern
from typing import Any

import yaml
from yaml._yaml import CParser

from stowplan.compiler.diagnostics.document import Data, Node
from stowplan.compiler.diagnostics.locations import Lines, Mark
from stowplan.compiler.yaml import lookalikes, scalars
from stowplan.compiler.yaml.tree_builder import MAX_DEPTH, MAX_NODES

MAX_LENGTH = MAX_NODES // 2
"""Characters. Text of this length holds fewer values than the limit, whatever it says: the smallest mapping, `a:`, is
three values."""

MAX_SIGNS = 4_000
"""Of the signs without which no collection begins. libyaml composes recursively: ten times as many may end the
process."""

_SIGNS = "-?:[{"
_ASCII = bytes([*b"\t\n\r", *range(0x20, 0x7F)])
"""What is not unusual in a text without other letters; to look with this takes a tenth of the time, and `_unusual` is
slow to compile."""

_CONFLICTS = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_ALIAS = re.compile(r"\*[0-9A-Za-z_-]")
_EMPTY_TAG = re.compile(r"(?<![\w#])!(?!=)")
"""The tag `!`, which libyaml's nodes do not tell from none. It never stands right behind one of these signs."""

_MERGE = "<<"
_NO_LETTERS = scalars.NUMBER_START | {"<"}
"""How what may be no text begins, where it is none of the words."""

_Scalar, _List, _Mapping = yaml.ScalarNode, yaml.SequenceNode, yaml.MappingNode
_Node = Any
"""One of these, whose tag is what `_Composer` makes of it."""


def documents(text: str, most: int) -> list[tuple[int, dict[str, Any]]] | None:
    """The documents of `text` that are not empty, each with its index; None if there is anything unusual.

    Unusual are also more documents than `most`, those that hold nothing counted.
    """
    if not _is_usual(text):
        return None
    try:
        roots = _compose(text)
        if len(roots) > most:
            return None
        read = [(index, _value(root, 1)) for index, root in enumerate(roots)]
    except (yaml.YAMLError, _UnusualError):
        return None
    found = [(index, data) for index, data in read if data is not None]
    return found if all(isinstance(data, dict) for _, data in found) else None


@lru_cache(maxsize=64)
def nodes(text: str) -> tuple[Node, ...]:
    """The documents of a text that `documents` has read, with their positions; those that are empty among them."""
    mark = Lines(text).mark
    return tuple(_placed(root, None, mark) for root in _compose(text))


class _UnusualError(Exception):
    """The text is not plain."""


class _Composer(CParser):
    """libyaml's composer, whose nodes have in place of a tag whether what they say depends on more than that.

    True are unquoted scalars that may be no text; a tag is a text.
    """

    # What it calls around each node, to tell tags by the path to it, of which we have none: the cheapest that take it.
    descend_resolver = operator.is_
    ascend_resolver = bool

    @staticmethod
    def resolve(_kind: type[_Node], value: str | None, implicit: Any) -> bool:
        return value is not None and implicit[0] and (value in scalars.WORDS or value[0] in _NO_LETTERS)


def _is_usual(text: str) -> bool:
    """Whether libyaml may compose the text, and no sign in it wants a closer look."""
    return (
        len(text) <= MAX_LENGTH
        and sum(map(text.count, _SIGNS)) <= MAX_SIGNS
        and not (text.encode().translate(None, _ASCII) if text.isascii() else _unusual().search(text))
        and not ("*" in text and _ALIAS.search(text))
        and not ("!" in text and _EMPTY_TAG.search(text))
        and not any(sign in text for sign in _CONFLICTS)
    )


@cache
def _unusual() -> re.Pattern[str]:
    """What YAML cannot hold, and what people may have meant for something else."""
    return re.compile(rf"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[{lookalikes.SIGNS}]")


def _compose(text: str) -> list[_Node]:
    composer = _Composer(text)
    roots = []
    while composer.check_node():
        roots.append(composer.get_node())
    return roots


def _value(node: _Node, depth: int) -> Data:
    """The plain value of a node. The innermost loop of reading: a call for each scalar would take half its time."""
    value = node.value
    if node.__class__ is _Scalar:
        return _scalar(node.tag, value)
    if node.tag is not False or depth > MAX_DEPTH:
        raise _UnusualError
    if node.__class__ is _List:
        return [_value(item, depth + 1) for item in value]
    mapping: dict[str, Data] = {}
    for key, below in value:
        text = key.value
        if key.tag is not False or text.__class__ is not str:
            _require_text(key)
        if below.__class__ is not _Scalar:
            mapping[intern(text)] = _value(below, depth + 1)
        elif not below.tag:
            mapping[intern(text)] = below.value
        else:
            mapping[intern(text)] = _scalar(below.tag, below.value)
    if len(mapping) != len(value):
        raise _UnusualError
    return mapping


def _require_text(key: _Node) -> None:
    if key.__class__ is not _Scalar or _scalar(key.tag, key.value) is not key.value or key.value == _MERGE:
        raise _UnusualError


def _scalar(tag: Any, text: str) -> scalars.Scalar:
    if tag is False:
        return text
    if tag is not True:
        raise _UnusualError
    value = scalars.plain(text)
    if isinstance(value, float) and not isfinite(value):
        raise _UnusualError
    return value


def _placed(node: _Node, key_mark: Mark | None, place: Callable[[int], Mark]) -> Node:
    """A node with its positions; `key_mark` is None for what has no key."""
    mark = place(node.start_mark.index)
    children: dict[str, Node] | list[Node] = {}
    data: Data
    if isinstance(node, _Mapping):
        children = {key.value: _placed(value, place(key.start_mark.index), place) for key, value in node.value}
        data = {key: child.data for key, child in children.items()}
    elif isinstance(node, _List):
        children = [_placed(item, None, place) for item in node.value]
        data = [child.data for child in children]
    else:
        data = _scalar(node.tag, node.value)
    return Node(data, mark, key_mark or mark, children)
