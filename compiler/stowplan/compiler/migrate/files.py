"""`stowplan migrate`: find the files and rewrite each one atomically."""

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE

from stowplan.compiler.diagnostics.escaping import visible
from stowplan.compiler.diagnostics.locations import START, Location
from stowplan.compiler.diagnostics.report import Diagnostic, Report, diagnose_at
from stowplan.compiler.migrate.migration import migrate
from stowplan.compiler.migrate.native import files as native
from stowplan.compiler.repository import load, own_files
from stowplan.compiler.repository.layout import SUFFIXES
from stowplan.schema.diagnostics import finding


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Paths of the files that were (or with `check` would be) rewritten, and the earlier contents of all files."""

    changed: list[str]
    texts: Mapping[str, str]


def yaml_files(paths: Sequence[Path]) -> list[str]:
    """Return the files in `paths`, of any name, and the YAML files below its folders that are not hidden; each once."""
    found = (each for path in paths for each in (_below(path) if path.is_dir() else [path]))
    return list(dict.fromkeys(each.as_posix() for each in found))


def rewrite(files: Sequence[str], report: Report, *, check: bool, to_native: bool = False) -> Rewritten:
    """Rewrite the files with legacy spellings, or with `to_native` those with specs that can become native kinds.

    With `check`, only list them. `files` are paths from the current folder. What is wrong with them goes to `report`.
    """
    texts = load.texts(files, report)
    changed = native.migrated(texts, report) if to_native else _respelled(texts, report)
    if not check:
        for folder in {target.parent for name in texts if (target := _target(Path(name)))}:
            own_files.clear(folder)
        for name, text in changed.items():
            _replace(Path(name), text, report)
    return Rewritten(list(changed), texts)


def _respelled(texts: Mapping[str, str], report: Report) -> dict[str, str]:
    changed = {}
    for name, text in texts.items():
        migration = migrate(text, name)
        report.add(*migration.diagnostics)
        if migration.text is not None:
            changed[name] = migration.text
    return changed


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(place, each) for each in sorted(names) if each.endswith(SUFFIXES) and each[0] != ".")


def _replace(path: Path, text: str, report: Report) -> None:
    """Replace the file atomically and keep its mode.

    A link is followed as by `_target`.
    """
    target = _target(path)
    if target is None:
        place = visible(str(path.resolve()))
        message = f"The file is a link that leads out of its folder, to {place}: nothing was rewritten."
        report.add(_found("SP109", path, message, "Name the file itself if it is to be rewritten."))
        return
    try:
        content, mode = target.read_bytes(), target.stat().st_mode
        mark = BOM_UTF8 if content.startswith(BOM_UTF8) else b""
        own_files.replace(target, mark + text.encode(), S_IMODE(mode))
    except OSError as error:
        message = f"The file could not be rewritten: {error.strerror}."
        report.add(_found("SP112", path, message, "Give yourself the right to write it."))


def _target(path: Path) -> Path | None:
    """Return the file to write for `path`: that which a link leads to, if it lies in the same folder or below."""
    target = path.resolve()
    return target if target.is_relative_to(path.parent.resolve()) else None


def _found(code: str, path: Path, message: str, hint: str) -> Diagnostic:
    return diagnose_at(Location(path.name, START.line, START.column), finding(code, (), message, hint))
