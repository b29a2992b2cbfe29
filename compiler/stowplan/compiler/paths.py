"""Paths below the output folder: which are safe, which collide, and how diagnostics name them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from unicodedata import normalize

from stowplan.compiler.emitter import visible
from stowplan.compiler.model import Output
from stowplan.compiler.source import Diagnostic, Location, diagnose_at
from stowplan.schema.diagnostics import finding

ARGOCD, CLUSTER, CRDS = "argocd", "_cluster", "crds"
"""Folders beside those of the namespaces. Two of them could be names of namespaces: no spec may live in these."""

_PART = r"[^./\\\x00-\x1f\x7f\ud800-\udfff][^/\\\x00-\x1f\x7f\ud800-\udfff]*"
_SAFE = re.compile(rf"{_PART}(?:/{_PART})*")


def safe(path: str) -> bool:
    """Whether `path` is relative, stays below the folder, and names no hidden file or folder.

    Inventories are committed files that anyone may have edited: every path of theirs passes here first.
    """
    return _SAFE.fullmatch(path) is not None


def location(out: Path, path: str = "", line: int = 1) -> Location:
    """The place of a file below `out`, named as the user gave `out`, or by its last part where that is absolute."""
    shown = PurePosixPath(out.name) if out.is_absolute() else PurePosixPath(out.as_posix())
    return Location(visible(str(shown / path)), line, 1)


def collisions(outputs: Sequence[Output]) -> list[Diagnostic]:
    """SP507 for outputs that would be one file, or a file and its own folder, where case does not count (macOS)."""
    files: dict[str, Output] = {}
    found = []
    for output in sorted(outputs, key=lambda output: (output.path, output.manifest.id)):
        first = files.setdefault(_folded(output.path), output)
        if first is not output:
            found.append(_collision(output, first))
    found += [
        _collision(output, files[folder])
        for output in files.values()
        for folder in parents(_folded(output.path))
        if folder in files
    ]
    return found


def unsafe(outputs: Iterable[Output]) -> list[Diagnostic]:
    """SP510 for outputs whose path would leave the folder or be hidden."""
    return [
        diagnose_at(
            Location(output.source, 1, 1),
            finding(
                "SP510",
                (),
                f'{output.manifest.id} would be written to "{visible(output.path)}", which is not a plain path below'
                " the output folder.",
                "Give the object a name that can be a file name.",
            ),
        )
        for output in outputs
        if not safe(output.path)
    ]


def parents(path: str) -> Iterator[str]:
    """The folders above `path`, nearest first, without the output folder itself: `a/b` and `a` of `a/b/c`."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _folded(path: str) -> str:
    return normalize("NFC", path).casefold()


def _collision(output: Output, first: Output) -> Diagnostic:
    message = (
        f'{first.manifest.id} and {output.manifest.id} would be written to "{first.path}" and "{output.path}",'
        " which cannot both exist where case does not count."
    )
    return diagnose_at(Location(output.source, 1, 1), finding("SP507", (), message, "Rename one of the objects."))
