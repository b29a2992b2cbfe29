"""The plan of a command: all changes of the output folder, decided before any file is changed."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from stowplan.compiler.output import inventory, inventory_files
from stowplan.compiler.output.folder import OutputFolder
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_files import PENDING, is_inventory
from stowplan.compiler.output.paths import parents
from stowplan.compiler.output.render import HEADER_LENGTH, Rendered, carries_header

_ENOUGH = 4096
"""Number of bytes at the start of a file that are enough to see whether Stowplan generated it."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file to write: a new file, or a replacement of an existing one. `after` is the new content."""

    path: str
    new: bool
    after: bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes of a command, and files that it leaves alone. All paths are sorted.

    `gone`: all paths that the last command wrote and this one does not. Of these, `stale` files are removed; `disowned`
    files have lost the header and are left alone. Files of the inventory without any entry now are `stale` too, and so
    is the one of version 0.1.0. Also left alone are `orphaned` files, which have the header but are in no inventory,
    `intruders`: all other entries of the folders that Argo CD syncs, and `strangers`: those of the rest of the output
    folder, unless it is the top of a work tree. Folders end in a slash: an empty one among the former, and one with
    nothing but strangers.
    `blocked`: paths of outputs or their folders that a foreign entry occupies; then nothing is written. `lost`: files
    that existed when the command began, so that their contents are not in memory, and are missing now. `inventory`: the
    contents of the new inventory's files by path. `pending`: the bytes of a file with all entries of those files of the
    inventory that change; empty if none does.
    """

    changes: tuple[FileChange, ...]
    unchanged: tuple[str, ...]
    gone: tuple[str, ...]
    stale: tuple[str, ...]
    disowned: tuple[str, ...]
    orphaned: tuple[str, ...]
    intruders: tuple[str, ...]
    strangers: tuple[str, ...]
    blocked: tuple[str, ...]
    lost: tuple[str, ...]
    inventory: Mapping[str, bytes]
    pending: bytes

    @property
    def foreign(self) -> tuple[str, ...]:
        """The paths of all entries that `synth` neither writes nor removes, sorted."""
        return tuple(sorted({*self.blocked, *self.disowned, *self.orphaned, *self.intruders, *self.strangers}))


def plan(files: Sequence[Rendered], tree: OutputFolder, previous: Inventory, elsewhere: Iterable[str] = ()) -> Plan:
    """Return the changes after which the generated files of `tree` are exactly `files` and their inventory.

    `previous` is the committed inventory. `elsewhere` are the paths of outputs of another version of the specs, whose
    folders count as synced by Argo CD too. Raises `OSError` if a file cannot be read.
    """
    manifests = {file.path: file.content for file in files}
    lines = inventory_files.lines(files)
    own = {path: inventory.of_lines(each) for path, each in lines.items()}
    contents = {**manifests, **own}
    obstacles = _obstacles(contents, tree)
    states = {path: _state(path, content, tree) for path, content in sorted(contents.items()) if path not in obstacles}
    gone = sorted(_listed(tree, previous).difference(contents))
    old = {path for path in tree.files.difference(contents) if is_inventory(path)}
    unknown = sorted(path for some in (tree.files, tree.others) for path in some.difference(contents, gone, old))
    orphaned = {path for path in unknown if path.endswith(".yaml") and _has_header(path, tree)}
    mine = {path for path in old if inventory.is_ours(tree.head(path, _ENOUGH))}
    blocked = {*obstacles.values(), *_those(states, _State.FOREIGN), *(old - mine)}
    foreign = {*unknown} - orphaned - blocked
    intruders = {*_synced({*foreign, *_empty(tree, contents)}, (*manifests, *elsewhere))}
    strangers = () if tree.is_work_tree else _outermost(foreign - intruders, (*contents, *gone, *old))
    changes = tuple(
        FileChange(path, new=state is _State.NEW, after=contents[path] or b"")
        for path, state in states.items()
        if state in (_State.NEW, _State.CHANGED)
    )
    entries = sorted(line for change in changes for line in lines.get(change.path, ()))
    return Plan(
        changes=changes,
        unchanged=_those(states, _State.SAME),
        gone=tuple(gone),
        stale=tuple(sorted([*(path for path in gone if _has_header(path, tree)), *mine])),
        disowned=tuple(path for path in gone if _exists(path, tree) and not _has_header(path, tree)),
        orphaned=tuple(sorted(orphaned)),
        intruders=tuple(sorted(intruders)),
        strangers=tuple(strangers),
        blocked=tuple(sorted(blocked)),
        lost=_those(states, _State.LOST),
        inventory=own,
        pending=inventory.of_lines(entries) if entries or mine else b"",
    )


class _State(Enum):
    NEW, CHANGED, SAME, FOREIGN, LOST = range(5)


def _those(states: Mapping[str, _State], wanted: _State) -> tuple[str, ...]:
    return tuple(path for path, state in states.items() if state is wanted)


def _state(path: str, content: bytes | None, tree: OutputFolder) -> _State:
    """Return how the file of an output compares with the output folder; `content` None means that it is unchanged."""
    if path not in tree.files:
        return _State.NEW if content is not None else _State.LOST
    if content is None:
        return _State.SAME
    same = tree.holds(path, content)
    before = content[:_ENOUGH] if same else tree.head(path, _ENOUGH)
    if before and not (inventory.is_ours(before) if is_inventory(path) else carries_header(before)):
        return _State.FOREIGN
    return _State.SAME if same else _State.CHANGED


def _synced(paths: Collection[str], outputs: Iterable[str]) -> Iterator[str]:
    """Return those of `paths` that are in a top-level folder of `outputs`; an Application syncs each such folder."""
    folders = tuple({f"{path.partition('/')[0]}/" for path in outputs if "/" in path}) if paths else ()
    return (path for path in paths if path.startswith(folders))


def _outermost(paths: Collection[str], ours: Iterable[str]) -> list[str]:
    """Return `paths` sorted, and in their place the outermost folders, with a slash, that hold none of `ours`."""
    shared = {folder for path in ours for folder in parents(path)} if paths else frozenset()

    def outermost(path: str) -> str:
        return next((f"{each}/" for each in reversed([*parents(path)]) if each not in shared), path)

    return sorted({outermost(path) for path in paths})


def _empty(tree: OutputFolder, outputs: Iterable[str]) -> Iterator[str]:
    """Yield the paths of empty folders, with a slash at the end, except folders into which outputs are written."""
    if tree.empty:
        wanted = {folder for path in outputs for folder in parents(path)}
        yield from (f"{folder}/" for folder in tree.empty - wanted)


def _obstacles(paths: Iterable[str], tree: OutputFolder) -> dict[str, str]:
    """Return, for each blocked path, the path of the entry that blocks it.

    The entry is a file in place of a parent folder, or a folder or link at the path itself.
    """
    found: dict[str, str | None] = {"": None}

    def above(folder: str) -> str | None:
        if folder not in found:
            found[folder] = folder if _exists(folder, tree) else above(folder.rpartition("/")[0])
        return found[folder]

    obstacles = {}
    for path in paths:
        obstacle = above(path.rpartition("/")[0]) or (path if path in tree.folders or path in tree.others else None)
        if obstacle:
            obstacles[path] = obstacle
    return obstacles


def _listed(tree: OutputFolder, previous: Inventory) -> set[str]:
    """Return the paths that the last command wrote, or that a later crashed command may have written."""
    pending, _ = inventory.parse({PENDING: tree.read(PENDING) or b""}, tree.root)
    return pending.paths() | {entry.path for entry in previous.entries if previous.complete}


def _exists(path: str, tree: OutputFolder) -> bool:
    return path in tree.files or path in tree.others


def _has_header(path: str, tree: OutputFolder) -> bool:
    return carries_header(tree.head(path, HEADER_LENGTH))
