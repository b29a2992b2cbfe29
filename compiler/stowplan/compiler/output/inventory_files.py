"""The files of the inventory, in the folder `_inventory/` of the output: one for each spec folder.

The entries of all objects of a spec are in `_inventory/<namespace>/<spec folder>.jsonl`. So commits about different
specs never change the same file of the inventory, and Git merges them. An object that belongs to no spec has its entry
in the file that is named like its own file or folder: `_inventory/crds/….jsonl`, `_inventory/ml/reporter.jsonl`. No
Application syncs the folder.

Version 0.1.0 had one file for all entries, `inventory.jsonl`. It is read too, and the next `synth` removes it when the
others are in place.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from stat import S_ISREG

from stowplan.compiler.output import paths
from stowplan.compiler.output.folder import TEMPORARY
from stowplan.compiler.output.render import Rendered
from stowplan.schema.meta import SpecId

OLD = "inventory.jsonl"
"""Path of the only file of the inventory in version 0.1.0."""

PENDING = f"{TEMPORARY}inventory"
"""Path of a file with all entries that a command is about to write. It stays after a crash."""

_SUFFIX = ".jsonl"
_TOP = f"{paths.INVENTORY}/"


def is_inventory(path: str) -> bool:
    """Whether a path in the output folder is that of a file of the inventory."""
    return path == OLD or (path.startswith(_TOP) and path.endswith(_SUFFIX))


def home(path: str, spec: SpecId | None) -> str:
    """Return the path of the inventory's file with the entry of the file `path`, which belongs to `spec`."""
    return of_spec(spec) if spec else _named("/".join(path.split("/")[:2]).removesuffix(".yaml"))


@lru_cache(10_000)
def of_spec(spec: SpecId) -> str:
    """Return the path of the inventory's file with the entries of a spec."""
    return _named(f"{spec.namespace}/{paths.spec_folder(spec)}")


def _named(own: str) -> str:
    """Return a path of the inventory. Names that differ in case only get one file, for file systems without case."""
    return f"{_TOP}{paths.folded(own)}{_SUFFIX}"


def lines(files: Iterable[Rendered]) -> dict[str, list[str]]:
    """Return, by path of the inventory's file, the lines of the entries of `files`, sorted by path."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(files, key=lambda each: each.path):
        found[home(file.path, file.spec)].append(file.line)
    return found


def present(out: Path) -> list[str]:
    """Return the paths of the inventory's files below the output folder `out`, sorted. Raises `OSError`.

    Links to folders are not followed. Some of the paths may be of links or other entries than files.
    """
    found = [OLD] if os.path.lexists(out / OLD) else []
    top = out / paths.INVENTORY
    if top.is_dir() and not top.is_symlink():
        for folder, _, names in os.walk(top, onerror=_refuse):
            inside = Path(folder).relative_to(out).as_posix()
            found += [f"{inside}/{name}" for name in names if name.endswith(_SUFFIX)]
    return sorted(found)


def _refuse(error: OSError) -> None:
    raise error


def exists(out: Path) -> bool:
    """Whether the output folder `out` has a file of the inventory; True also if that cannot be read."""
    try:
        return bool(present(out))
    except OSError:
        return True


def content(out: Path, path: str) -> bytes | None:
    """Return the bytes of the file `path` of the inventory; None if it is not a regular file. Raises `OSError`."""
    file = out / path
    return file.read_bytes() if S_ISREG(file.lstat().st_mode) else None


def digest(contents: Mapping[str, bytes]) -> str:
    """Return a digest of the inventory whose files have these contents, by path; empty without files."""
    each = (f"{path}\0{sha256(found).hexdigest()}\n" for path, found in sorted(contents.items()))
    return sha256("".join(each).encode()).hexdigest() if contents else ""


def below(folder: str, files: Iterable[str]) -> bool:
    """Whether `files`, paths in an output folder, have a file of the inventory of the output in its folder `folder`."""
    prefix = f"{folder}/"
    return any(is_inventory(path.removeprefix(prefix)) for path in files if path.startswith(prefix))


def holders(out: Path) -> list[Path]:
    """Return the folders with an inventory: `out`, and those at most two folders below it."""
    named = (out.glob(f"{above}{name}") for above in ("", "*/", "*/*/") for name in (OLD, paths.INVENTORY))
    folders = {found.parent for found in chain.from_iterable(named)}
    return sorted(each for each in folders if paths.INVENTORY not in each.relative_to(out).parts and exists(each))
