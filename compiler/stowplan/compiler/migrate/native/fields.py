"""The steps of a migration plan, applied to the data of a spec: plain data, or that of ruamel.yaml with its quotes."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from stowplan.compiler.kubernetes.fields import value_at
from stowplan.compiler.migrate.native.plan import MigrationPlan, Move, Omit, Write
from stowplan.schema.diagnostics import FieldPath

_MISSING = object()


def carried_out(plan: MigrationPlan, old: dict[str, Any]) -> dict[str, Any]:
    """Return the native document, by the steps of `plan`. These take values out of `old`; what none names stays there.

    The document is a `CommentedMap` if `old` is one.
    """
    new: dict[str, Any] = type(old)()
    for step in plan.steps:
        match step:
            case Move():
                value = _take(old, step.old)
                if value is not _MISSING:
                    _put(new, step.new, value)
            case Write():
                if step.old:
                    _take(old, step.old)
                _put(new, step.new, _like(new, step.value))
            case Omit():
                _take(old, step.old)
    return new


def leaves(node: Any, at: FieldPath = ()) -> Iterator[FieldPath]:
    """Yield the paths of the scalars in plain data, except nulls; each begins with `at`, the path of `node`."""
    if isinstance(node, dict | list):
        for key, below in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(below, (*at, key))
    elif node is not None:
        yield at


def _take(tree: dict[str, Any], at: FieldPath) -> Any:
    """Remove and return the value at `at`, which ends in a key. Mappings that become empty are removed too."""
    holder = value_at(tree, at[:-1])
    if not isinstance(holder, dict) or at[-1] not in holder:
        return _MISSING
    value = holder.pop(at[-1])
    if not holder and len(at) > 1 and isinstance(at[-2], str):
        _take(tree, at[:-1])
    return value


def _put(tree: dict[str, Any], at: FieldPath, value: Any) -> None:
    """Write `value` at `at`. Mappings and lists on the way are made; an index is at most the length of its list."""
    node: Any = tree
    for part, following in pairwise(at):
        below = value_at(node, (part,))
        if not isinstance(below, dict | list):
            below = _empty(tree, [] if isinstance(following, int) else {})
            _set(node, part, below)
        node = below
    _set(node, at[-1], value)


def _set(node: Any, part: str | int, value: Any) -> None:
    if isinstance(node, list) and part == len(node):
        node.append(value)
    else:
        node[part] = value


def _empty(tree: dict[str, Any], value: Any) -> Any:
    """Return `value`, an empty mapping or list, in the class that fits `tree`."""
    if not isinstance(tree, CommentedMap):
        return value
    return CommentedSeq() if isinstance(value, list) else CommentedMap()


def _like(tree: dict[str, Any], value: Any) -> Any:
    """Return a copy of plain data in the classes that fit `tree`. Empty collections are in flow style."""
    if isinstance(value, dict):
        copy = _empty(tree, {})
        copy.update({key: _like(tree, below) for key, below in value.items()})
    elif isinstance(value, list):
        copy = _empty(tree, [])
        copy.extend(_like(tree, below) for below in value)
    else:
        return value
    return copy
