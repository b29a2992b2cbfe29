"""Owners of the fields of a live object, by `metadata.managedFields`."""

import json
from collections.abc import Iterator
from typing import Any

from tests.cluster.client import Manifest

Path = tuple[str, ...]
"""The keys of a fieldsV1 tree from the root, such as `("f:spec", "f:replicas")`."""


def unowned(sent: Manifest, live: Manifest, manager: str) -> list[Path]:
    """The fields of the sent manifest that the manager does not own by server-side apply."""
    trees = [entry["fieldsV1"] for entry in _entries(live) if _is_apply(entry, manager)]
    return list(_missing(_content(sent), trees[0] if trees else {}, ()))


def shared(live: Manifest, manager: str) -> dict[str, list[Path]]:
    """The fields that the manager owns together with others, by the name of the other manager."""
    own: set[Path] = set()
    others: dict[str, set[Path]] = {}
    for entry in _entries(live):
        found = set(leaves(entry["fieldsV1"]))
        if _is_apply(entry, manager):
            own |= found
        else:
            others.setdefault(entry["manager"], set()).update(found)
    return {name: sorted(own & found) for name, found in others.items() if own & found}


def _entries(live: Manifest) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = live["metadata"]["managedFields"]
    return entries


def _content(sent: Manifest) -> Manifest:
    """The manifest without what names the object, which managedFields leave out."""
    metadata = {key: value for key, value in sent["metadata"].items() if key not in {"name", "namespace"}}
    content = {key: value for key, value in sent.items() if key not in {"apiVersion", "kind", "metadata"}}
    return content | ({"metadata": metadata} if metadata else {})


def _is_apply(entry: dict[str, Any], manager: str) -> bool:
    return entry["manager"] == manager and entry["operation"] == "Apply" and not entry.get("subresource")


def leaves(tree: dict[str, Any], path: Path = ()) -> Iterator[Path]:
    """The paths of the fields that are owned themselves, and not for what is below them."""
    for key, below in tree.items():
        if below:
            yield from leaves(below, (*path, key))
        elif key != ".":
            yield (*path, key)


def _missing(value: Any, tree: dict[str, Any], path: Path) -> Iterator[Path]:
    """Walk the sent value beside the tree; an empty tree below the root means that all beneath is owned."""
    if path and not tree:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _step(item, tree, path, f"f:{key}")
    elif isinstance(value, list):
        for item in value:
            yield from _step(item, tree, path, _item_key(item, tree))


def _step(value: Any, tree: dict[str, Any], path: Path, key: str) -> Iterator[Path]:
    if key in tree:
        yield from _missing(value, tree[key], (*path, key))
    else:
        yield (*path, key)


def _item_key(item: Any, tree: dict[str, Any]) -> str:
    """The tree's key of a list item: by its value in a set, by its key fields (with defaults) in a map.

    A key field that was not sent has its default in the tree (a port's protocol), so it matches anything.
    """
    if not isinstance(item, dict):
        return f"v:{json.dumps(item)}"
    for key in tree:
        if key.startswith("k:") and all(item.get(name, value) == value for name, value in _key(key)):
            return key
    return f"k:{json.dumps(item, sort_keys=True)}"


def _key(key: str) -> list[tuple[str, Any]]:
    return list(json.loads(key.removeprefix("k:")).items())
