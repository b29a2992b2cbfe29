"""The plan of a run: what would change in the output folder, decided before anything is touched."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stowplan.compiler import inventory
from stowplan.compiler.inventory import Inventory
from stowplan.compiler.model import Output
from stowplan.compiler.paths import parents
from stowplan.compiler.render import HEADER_LENGTH, carries_header, render
from stowplan.compiler.tree import TEMPORARY, Tree

_MANIFESTS = (".yaml", ".yml", ".json", ".jsonnet")
"""What an Application of a folder reads (Argo CD, `getPotentiallyValidManifestFile`), hidden files too."""

PENDING = f"{TEMPORARY}inventory"
"""The inventory of a run that is under way. One that died leaves it, and with it the list of what it may have made."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file to write. `before` is its present content, None where there is no file."""

    path: str
    before: bytes | None
    after: bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """All paths are sorted.

    `gone` are all paths that the last run wrote and this one does not. Of these, `stale` files are to be removed;
    `disowned` ones have lost our header and are left alone. So are `orphaned` files, which have our header but stand
    in no inventory, and `intruders`: manifests without our header in folders that Argo CD syncs. `blocked` are paths of
    outputs or of folders above them where something foreign stands: then nothing is written.
    """

    changes: tuple[Change, ...]
    unchanged: tuple[str, ...]
    gone: tuple[str, ...]
    stale: tuple[str, ...]
    disowned: tuple[str, ...]
    orphaned: tuple[str, ...]
    intruders: tuple[str, ...]
    blocked: tuple[str, ...]


def plan(outputs: Sequence[Output], tree: Tree, previous: Inventory) -> Plan:
    """What it takes to make `tree` hold exactly `outputs` and their inventory, and nothing else of ours.

    Raises `OSError` where a file cannot be read.
    """
    contents = {output.path: render(output) for output in outputs}
    entries = tuple(inventory.entry(output, contents[output.path]) for output in outputs)
    ordered = tuple(sorted(entries, key=lambda entry: entry.path))
    contents[inventory.NAME] = inventory.render(Inventory(ordered))
    blocked = {path: obstacle for path in contents if (obstacle := _obstacle(path, tree))}
    before = {path: tree.read(path) for path in sorted(contents.keys() - blocked.keys())}
    blocked |= {path: path for path, content in before.items() if content and not _is_ours(path, content)}
    gone = tuple(sorted(_listed(tree, previous) - contents.keys()))
    known = {*contents, *gone}
    unlisted = sorted(path for path in tree.files if path.endswith(".yaml") and path not in known)
    return Plan(
        changes=tuple(
            Change(path, content, contents[path])
            for path, content in before.items()
            if path not in blocked and content != contents[path]
        ),
        unchanged=tuple(path for path, content in before.items() if content == contents[path]),
        gone=gone,
        stale=tuple(path for path in gone if _has_header(path, tree)),
        disowned=tuple(path for path in gone if _exists(path, tree) and not _has_header(path, tree)),
        orphaned=tuple(path for path in unlisted if _has_header(path, tree)),
        intruders=tuple(path for path in _synced(contents, tree) if path not in known and not _has_header(path, tree)),
        blocked=tuple(sorted(set(blocked.values()))),
    )


def _synced(outputs: Iterable[str], tree: Tree) -> list[str]:
    """All that Argo CD reads as manifests in the folders of outputs, each of which an Application syncs."""
    folders = tuple(sorted({f"{path.partition('/')[0]}/" for path in outputs if "/" in path}))
    return sorted(
        path for path in (*tree.files, *tree.others) if path.endswith(_MANIFESTS) and path.startswith(folders)
    )


def _is_ours(path: str, content: bytes) -> bool:
    return inventory.is_ours(content) if path == inventory.NAME else carries_header(content)


def _obstacle(path: str, tree: Tree) -> str | None:
    """`path` where something else than a regular file stands at it, or what stands in place of a folder above it."""
    above = next((folder for folder in parents(path) if folder in tree.files or folder in tree.others), None)
    return above or (path if path in tree.folders or path in tree.others else None)


def _listed(tree: Tree, previous: Inventory) -> set[str]:
    """Paths that the last run wrote, or a later one that died may have written."""
    pending, _ = inventory.parse(tree.read(PENDING) or b"", tree.root)
    last = previous.entries if previous.complete else ()
    return {entry.path for entry in (*last, *pending.entries)}


def _exists(path: str, tree: Tree) -> bool:
    return path in tree.files or path in tree.others


def _has_header(path: str, tree: Tree) -> bool:
    return carries_header(tree.head(path, HEADER_LENGTH))
