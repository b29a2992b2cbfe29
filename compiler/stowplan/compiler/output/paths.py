"""Paths below the output folder: which are safe, which collide, and how diagnostics name them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol, TypeVar
from unicodedata import normalize

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.diagnostics.locations import Location
from stowplan.compiler.diagnostics.report import Diagnostic, diagnose_at
from stowplan.library.values.names import FILE_LIMIT, shorten
from stowplan.schema.diagnostics import Finding, finding
from stowplan.schema.meta import ObjectId, SpecId

ARGOCD, CLUSTER, CRDS = "argocd", "_cluster", "crds"
"""Top-level folders of the output that are not for namespaces. Specs may not be in namespaces `argocd` and `crds`."""

INVENTORY = "_inventory"
"""Top-level folder of the output that no Application syncs. No namespace can have such a name."""

ROOT, ROOT_PROJECT = f"{ARGOCD}/root.yaml", f"{ARGOCD}/root-project.yaml"
"""Files that an administrator applies once: the root Application and its AppProject. The paths never change."""

_PART = r"[^./\\\x00-\x1f\x7f\ud800-\udfff][^/\\\x00-\x1f\x7f\ud800-\udfff]*"
_SAFE = re.compile(rf"{_PART}(?:/{_PART})*")


def safe(path: str) -> bool:
    """Whether `path` is relative, stays below the output folder, and has no hidden file or folder in it.

    Anyone may have edited the committed inventory, so each of its paths is checked here first.
    """
    return _SAFE.fullmatch(path) is not None


def location(out: Path, path: str = "", line: int = 1) -> Location:
    """Return the location of a file in the output folder `out`, for diagnostics; without `path`, that of the folder.

    `line` counts from 1. The location begins with `out` as given or, if that is absolute, with its last part.
    """
    shown = PurePosixPath(out.name) if out.is_absolute() else PurePosixPath(out.as_posix())
    return Location(visible(str(shown / path)), line, 1)


def spec_folder(spec: SpecId) -> str:
    """Return the name of the folder for the objects of a spec in one namespace: `<spec kind>-<spec name>`."""
    return f"{spec.kind.lower()}-{shorten(spec.name, FILE_LIMIT)}"


class Placed(Protocol):
    """An object with a path in the output folder: an output, its rendered file, or its summary."""

    @property
    def path(self) -> str: ...
    @property
    def id(self) -> ObjectId: ...


class Sourced(Placed, Protocol):
    """An object with a path in the output folder and a known user's file."""

    @property
    def source(self) -> str: ...


_Placed = TypeVar("_Placed", bound=Placed)


def problems(outputs: Sequence[_Placed]) -> list[tuple[_Placed, Finding]]:
    """Return pairs of an output that cannot be written and the reason: SP510 for unsafe, SP507 for colliding paths.

    Paths collide if they are equal, if they differ in case only (macOS), or if one is a folder of the other.
    """
    unsafe = [(output, _unsafe(output)) for output in outputs if not safe(output.path)]
    return unsafe + _collisions(outputs)


def _collisions(outputs: Sequence[_Placed]) -> list[tuple[_Placed, Finding]]:
    files: dict[str, _Placed] = {}
    found = []
    for output in sorted(outputs, key=lambda output: (output.path, output.id)):
        first = files.setdefault(folded(output.path), output)
        if first is not output:
            found.append((output, _collision(output, first)))
    found += [
        (output, _collision(output, files[folder]))
        for output in files.values()
        for folder in parents(folded(output.path))
        if folder in files
    ]
    return found


def diagnostics(outputs: Sequence[Sourced]) -> list[Diagnostic]:
    """Return the findings of `problems` as diagnostics, located at the start of the outputs' source files."""
    return [diagnose_at(Location(output.source, 1, 1), found) for output, found in problems(outputs)]


def parents(path: str) -> Iterator[str]:
    """Yield the folders above `path`, nearest first, without the output folder itself: `a/b` and `a` for `a/b/c`."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def folded(path: str) -> str:
    """Return a string that is equal for all paths that name the same file on a case-insensitive file system."""
    if path.isascii():
        return path.lower()
    return normalize("NFC", path).casefold()


def _unsafe(output: Placed) -> Finding:
    message = (
        f'{output.id} would be written to "{visible(output.path)}", which is not a plain path below the output folder.'
    )
    return finding("SP510", (), message, "Give the object a name that can be a file name.")


def _collision(output: Placed, first: Placed) -> Finding:
    message = (
        f'{first.id} and {output.id} would be written to "{first.path}" and "{output.path}",'
        " which cannot both exist where case does not count."
    )
    return finding("SP507", (), message, "Rename one of the objects.")
