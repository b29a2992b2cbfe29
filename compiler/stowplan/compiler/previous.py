"""The objects that the committed output holds."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from stowplan.compiler.inventory import Entry, Inventory
from stowplan.compiler.model import Output
from stowplan.compiler.render import render
from stowplan.compiler.reread import reread
from stowplan.compiler.tree import Tree, scan
from stowplan.library.manifest import Json
from stowplan.schema.meta import ObjectId


def previous(outputs: Sequence[Output], inventory: Inventory, out: Path) -> Mapping[ObjectId, Json]:
    """By identity, the objects that the last run wrote. A file that is missing or cannot be read is left out.

    A file is only read where the outputs would change or remove it; for the rest the new object is the old one.
    """
    new = {output.path: output for output in outputs}
    tree = _tree(out)
    objects: dict[ObjectId, Json] = {}
    for entry in inventory.entries:
        body = _body(entry, new.get(entry.path), tree)
        if body is not None:
            objects[entry.id] = body
    return objects


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
