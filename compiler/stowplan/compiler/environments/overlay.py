"""A patch merged over a document, and the nodes of the result, each with its position in the document or the patch."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from stowplan.compiler.diagnostics.document import Data, Node
from stowplan.library.values import strategic_merge
from stowplan.schema.meta import Model
from stowplan.schema.parse_model import parts

_KEYS = ("name", "containerPort", "mountPath", "devicePath", "ip", "topologyKey", "key")
"""Fields by which items of lists are the same item although they differ."""


def placed(data: Data, base: Node | None, patch: Node | None, whole: Node) -> Node:
    """Return the nodes of `data`, the result of applying a patch to a document.

    `base` is the document's node at the same place, `patch` the node that the patch has for the same place; None if
    there is none. `whole` is the patch, for values whose place in it is not known. What did not change keeps its node.
    A mapping that lost a field is where the patch is, so that a finding about the missing field is too.
    """
    for node in (base, patch, whole):
        if node is not None and _same(node.data, data):
            return node
    at = patch or whole
    if isinstance(data, dict):
        kept = base is not None and isinstance(base.data, dict) and base.data.keys() <= data.keys()
        at = base if base is not None and kept else at
        children = {key: placed(value, _child(base, key), _child(patch, key), whole) for key, value in data.items()}
        return Node(data, at.mark, at.key_mark, children, at.file)
    if isinstance(data, list):
        items = [placed(item, _item(base, item), _item(patch, item), whole) for item in data]
        return Node(data, at.mark, at.key_mark, items, at.file)
    return Node(data, at.mark, at.key_mark, file=at.file)


def of_file(node: Node, file: str) -> Node:
    """Return a copy of a node whose positions, and those of all values in it, are in `file`."""
    if isinstance(node.children, dict):
        return replace(node, file=file, children={key: of_file(below, file) for key, below in node.children.items()})
    return replace(node, file=file, children=[of_file(below, file) for below in node.children])


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal and have the same types: in Python, True equals 1."""
    return one is other or (one == other and repr(one) == repr(other))


def _child(node: Node | None, key: str) -> Node | None:
    return node.child(key) if node is not None else None


def _item(node: Node | None, value: Any) -> Node | None:
    """Return the item of a list that `value` equals or, failing that, that is the same item with other fields."""
    items = node.children if node is not None and isinstance(node.children, list) else []
    return next(_like(items, value), None)


def _like(items: list[Node], value: Any) -> Iterator[Node]:
    yield from (item for item in items if _same(item.data, value))
    for key in _KEYS if isinstance(value, dict) else ():
        if key in value:
            yield from (item for item in items if isinstance(item.data, dict) and item.data.get(key) == value[key])


def merged(base: dict[str, Any], patch: dict[str, Any], model: type[Model] | None) -> dict[str, Any]:
    """Return `base` with `patch` merged over it; `model` is that of both, None if there is none.

    Mappings are merged field by field, null removes a field, and other values are replaced, lists too. Values of
    embedded Kubernetes types are merged by Kubernetes' strategic merge, and lists of them as pod templates merge lists
    of the same type: variables by name, for example. Raises `strategic_merge.PatchError`. `base` stays as it is.
    """
    known = parts(model) if model else {}
    result = dict(base)
    for key, value in patch.items():
        definition, below = known.get(key, ("", None))
        old = result.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and not definition:
            try:
                result[key] = merged(old, value, below)
            except strategic_merge.PatchError as problem:
                raise strategic_merge.PatchError(str(problem), (key, *problem.path)) from None
        else:
            rule = (
                strategic_merge.of_items(definition) if isinstance(value, list) and definition else {"of": definition}
            )
            one = {key: old} if key in result else {}
            result.pop(key, None)
            result |= strategic_merge.merge(one, {key: value}, {key: rule})
    return result
