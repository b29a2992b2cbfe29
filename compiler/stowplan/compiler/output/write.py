"""Writing of the output folder. After a crash at any point, the next command repairs the folder.

The steps: write all new content to temporary files in the final folders; remove stale manifests; create `PENDING` with
all entries of the inventory that change; rename the manifests to their final names; rename the files of the inventory;
remove those that are not needed any more; remove `PENDING`. The next command does the steps that a crashed one did not
reach: it trusts only the files that it reads, and uses `PENDING` as a second list of files that may be generated.

Nothing is forced to the disk (`fsync`): a crashed process loses nothing that it wrote. After a power cut the next
command compares every byte and rewrites files that are empty or differ. Git has the only copy that must last.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from stowplan.compiler.diagnostics.ci import in_ci
from stowplan.compiler.diagnostics.report import Diagnostic, Report, diagnose_at
from stowplan.compiler.output import inventory, lock, paths
from stowplan.compiler.output.folder import TEMPORARY, OutputFolder, scan
from stowplan.compiler.output.inventory import Inventory
from stowplan.compiler.output.inventory_files import PENDING, is_inventory
from stowplan.compiler.output.render import Rendered
from stowplan.compiler.output.write_plan import FileChange, Plan, plan
from stowplan.schema.diagnostics import Severity, finding

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""Flags for a new file; without `O_BINARY`, Windows would change line ends."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What was done with each path below the output folder, those of the inventory included; paths are sorted.

    `inventory` has the contents of the new inventory's files by path. All is empty if nothing was written.
    """

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    inventory: Mapping[str, bytes] = field(default_factory=dict, compare=False, repr=False)


def write(files: Sequence[Rendered], out: Path, previous: Inventory, report: Report) -> WriteResult:
    """Change the folder `out` so that its generated files are exactly `files` and their inventory.

    `previous` is the inventory as it was at the start of the command. Files without the header are never changed. After
    an error, which goes to `report`, the result is empty and nothing is changed; only if the operating system refuses a
    step in between may some files be changed, and the next command does the rest. Never raises `OSError`.
    """
    problems = paths.diagnostics(files)
    report.add(*problems)
    if problems:
        return WriteResult()
    try:
        with lock.held(out) as alone:
            if not alone or not inventory.is_still(previous, out):
                report.add(_busy(out))
                return WriteResult()
            tree = scan(out)
            planned = plan(files, tree, previous)
            found = observations(planned, out)
            report.add(*found)
            return WriteResult() if any(each.severity is Severity.ERROR for each in found) else _apply(planned, tree)
    except OSError as error:
        report.add(unusable(out, error))
        return WriteResult()


def digests(files: Iterable[Rendered], written: WriteResult) -> dict[str, str]:
    """Return the SHA-256 of each file that a command wrote or found up to date, the inventory included, by path."""
    own = {path: sha256(content).hexdigest() for path, content in written.inventory.items()}
    return {**{file.path: file.sha256 for file in files}, **own}


def observations(planned: Plan, out: Path) -> list[Diagnostic]:
    """Return the diagnostics about files that a plan cannot or must not change; in CI all are errors.

    SP508 is for blocked paths, SP512 for files that are left alone, SP517, SP518 and SP537 for foreign entries. SP509
    is returned if files disappeared since the command began.
    """
    return [
        *([_busy(out)] if planned.lost else ()),
        *(_noted("SP508", out, path, *_BLOCKED) for path in planned.blocked),
        *(_noted("SP512", out, path, *_DISOWNED) for path in planned.disowned),
        *(_noted("SP512", out, path, *_ORPHANED) for path in planned.orphaned),
        *(_intruder(out, path) for path in planned.intruders),
        *(stranger(out, path) for path in planned.strangers),
    ]


def stranger(out: Path, path: str) -> Diagnostic:
    """Return SP537 for an entry of the output folder `out` that lies where nothing is synced; in CI an error."""
    return _noted("SP537", out, path, *_STRANGE)


def unusable(out: Path, error: OSError) -> Diagnostic:
    """Return SP510 for an operation in the output folder `out` that the operating system refused."""
    named = Path(os.fsdecode(error.filename or out))
    path = named.relative_to(out).as_posix() if named.is_relative_to(out) else ""
    place = paths.location(out, "" if path == "." else path)
    message = f"The output folder cannot be used: {error.strerror}."
    hint = "Make it a writable folder with free space, or choose another folder with `--out`."
    return diagnose_at(place, finding("SP510", (), message, hint))


_BLOCKED = (
    "A manifest or its folder belongs here, but Stowplan did not generate the present file.",
    "Move it elsewhere, or delete it. Until then nothing is written.",
)
_DISOWNED = (
    "The last command wrote this file, and it is no longer needed, but its header is gone, so it was left alone.",
    "Delete it if it is not yours: Argo CD applies what lies here.",
)
_ORPHANED = (
    "This file has Stowplan's header, but no spec compiles to it and the inventory lacks it, so it was left alone.",
    "Delete it if it is not needed: Argo CD applies what lies here.",
)
_MANIFESTS = (".yaml", ".yml", ".json", ".jsonnet")
"""Suffixes of files that Argo CD reads as manifests (`getPotentiallyValidManifestFile` of its repository server)."""
_MANIFEST = (
    "Stowplan did not generate this file, but it is named like a manifest and lies in a folder that Argo CD syncs.",
    "Move it out of the output. Plain objects may be among the specs: see `passThrough` of the platform file.",
)
_FOREIGN = (
    "Stowplan did not generate this entry of a folder that Argo CD syncs; only generated files may lie there.",
    "Delete it, or move it out of the folder.",
)

_STRANGE = (
    "Stowplan did not generate this entry of the output folder; only generated files may lie there.",
    "Move it out of the folder. Settings for what lies in it, as in .gitattributes, can stand above it.",
)


def _intruder(out: Path, path: str) -> Diagnostic:
    if path.endswith(_MANIFESTS):
        return _noted("SP517", out, path, *_MANIFEST)
    return _noted("SP518", out, path, *_FOREIGN)


def _noted(code: str, out: Path, path: str, message: str, hint: str) -> Diagnostic:
    severity = Severity.ERROR if in_ci() else None
    return diagnose_at(paths.location(out, path), finding(code, (), message, hint, severity=severity))


def _busy(out: Path) -> Diagnostic:
    message = "Another command is writing this folder, or has written it since this one began."
    return _noted("SP509", out, "", message, "Wait for it to end, then start this one again.")


def _apply(planned: Plan, tree: OutputFolder) -> WriteResult:
    root = tree.root
    for path in tree.leftovers - {PENDING}:
        (root / path).unlink()
    pending = [FileChange(PENDING, new=True, after=planned.pending)] if planned.pending else []
    staged = _staged([*planned.changes, *pending], tree)
    old = [path for path in planned.stale if is_inventory(path)]
    for path in planned.stale:
        if not is_inventory(path):
            (root / path).unlink()
    _remove_empty(_folders((*planned.gone, *tree.leftovers)) & tree.folders, root)
    _put_in_place(staged, root)
    for path in old:
        (root / path).unlink()
    emptied = (f"{folder}/" for folder in tree.empty if folder.startswith(f"{paths.INVENTORY}/"))
    _remove_empty(_folders((*old, *emptied)) & tree.folders, root)
    if pending or PENDING in tree.leftovers:
        (root / PENDING).unlink(missing_ok=True)
    return WriteResult(
        created=tuple(change.path for change in planned.changes if change.new),
        changed=tuple(change.path for change in planned.changes if not change.new),
        unchanged=planned.unchanged,
        removed=planned.stale,
        inventory=planned.inventory,
    )


def _staged(changes: Sequence[FileChange], tree: OutputFolder) -> dict[str, str]:
    """Write each change to a temporary file in its final folder; return the path of this file by final path.

    After an error, all temporary files and new folders are removed, and the error is raised.
    """
    top = f"{tree.root}/"
    staged: dict[str, str] = {}
    folders = {"", *tree.folders}
    try:
        for number, change in enumerate(changes):
            folder, slash, _ = change.path.rpartition("/")
            if folder not in folders:
                _make(folder, folders, top)
            staged[change.path] = temporary = f"{top}{folder}{slash}{TEMPORARY}{number}"
            _create(temporary, change.after)
    except BaseException:
        for temporary in staged.values():
            Path(temporary).unlink(missing_ok=True)
        _remove_empty(_folders(change.path for change in changes) - tree.folders, tree.root)
        raise
    return staged


def _make(folder: str, made: set[str], top: str) -> None:
    """Make a folder and its parents below `top`, except those in `made`, and add all of them to `made`."""
    above = folder.rpartition("/")[0]
    if above not in made:
        _make(above, made, top)
    with suppress(FileExistsError):
        os.mkdir(top + folder)  # noqa: PTH102 - a Path costs more than the call, and there may be thousands
    made.add(folder)


def _create(path: str, content: bytes) -> None:
    """Create a new file; fail if the path exists, even as a link."""
    descriptor = os.open(path, _CREATE, 0o644)
    try:
        written = os.write(descriptor, content)
        while written < len(content):
            written += os.write(descriptor, content[written:])
    finally:
        os.close(descriptor)


def _put_in_place(staged: Mapping[str, str], root: Path) -> None:
    for path in sorted(staged, key=lambda each: (each != PENDING, is_inventory(each))):
        os.replace(staged[path], f"{root}/{path}")  # noqa: PTH105 - as for the folders


def _folders(files: Iterable[str]) -> frozenset[str]:
    own = {file.rpartition("/")[0] for file in files} - {""}
    return frozenset(own.union(*(paths.parents(folder) for folder in own)))


def _remove_empty(folders: frozenset[str], root: Path) -> None:
    """Remove those of `folders` that are empty, inner ones first; the operating system refuses to remove the others."""
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            (root / folder).rmdir()
