"""The objects that the committed output holds."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from stowplan.compiler import inventory as inventories
from stowplan.compiler.entries import Entry
from stowplan.compiler.inventory import Inventory
from stowplan.compiler.model import Output
from stowplan.compiler.plan import PENDING
from stowplan.compiler.render import HEADER_LENGTH, carries_header, render
from stowplan.compiler.reread import reread
from stowplan.compiler.source import Diagnostic
from stowplan.compiler.tree import Tree, scan
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId


def previous(outputs: Sequence[Output], inventory: Inventory, out: Path) -> Mapping[ObjectId, Json]:
    """By identity, the objects that the committed files hold. A file that is missing or cannot be read is left out.

    A file is only read where the outputs would change or remove it; for the rest the new object is the old one. Files
    with our header that the inventory does not list count too: an inventory may be lost or merged badly.
    """
    new = {output.path: output for output in outputs}
    tree = _tree(out)
    objects: dict[ObjectId, Json] = {}
    for entry in inventory.entries:
        body = _body(entry, new.get(entry.path), tree)
        if body is not None:
            objects[entry.id] = body
    for path in _unlisted(inventory, tree):
        manifest = reread(tree.read(path) or b"", PurePosixPath(path).stem)
        if manifest is not None:
            objects.setdefault(manifest.id, manifest.body)
    return objects


def lost_inventory(out: Path) -> list[Diagnostic]:
    """SP516 where files of ours lie in `out`, but neither their inventory nor that of a run that died."""
    tree = _tree(out)
    present = inventories.NAME in tree.files or inventories.NAME in tree.others or PENDING in tree.leftovers
    ours = not present and any(_unlisted(Inventory(), tree))
    return [inventories.missing(out)] if ours else []


def _unlisted(inventory: Inventory, tree: Tree) -> Iterator[str]:
    """Files with our header that the inventory does not list."""
    listed = {entry.path for entry in inventory.entries}
    others = (path for path in sorted(tree.files) if path.endswith(".yaml") and path not in listed)
    return (path for path in others if carries_header(_head(tree, path)))


def _head(tree: Tree, path: str) -> bytes:
    try:
        return tree.head(path, HEADER_LENGTH)
    except OSError:
        return b""


def _body(entry: Entry, output: Output | None, tree: Tree) -> Json | None:
    if output and sha256(render(output)).hexdigest() == entry.sha256:
        return output.manifest.body
    content = tree.read(entry.path) if entry.path in tree.files else None
    manifest = reread(content, PurePosixPath(entry.path).stem) if content else None
    return manifest.body if manifest and manifest.id == entry.id else None


def _tree(out: Path) -> Tree:
    """An output folder that cannot be read holds nothing; writing it will say why."""
    try:
        return scan(out)
    except OSError:
        return Tree(out)
