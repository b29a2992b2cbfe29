"""`stowplan migrate`: finds the files, rewrites each as a whole or not at all."""

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stowplan.compiler import load
from stowplan.compiler.migration import migrate
from stowplan.compiler.source import START, Location, Report, diagnose_at
from stowplan.schema.diagnostics import finding
from stowplan.schema.records import dataclass

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The files that were rewritten, or would be, and the texts of all as they were before."""

    changed: list[str]
    texts: Mapping[str, str]


def yaml_files(paths: Sequence[Path]) -> list[str]:
    """The files among `paths`, and those below the folders among them; hidden ones are passed over."""
    found = (each for path in paths for each in (_below(path) if path.is_dir() else [path]))
    return list(dict.fromkeys(each.as_posix() for each in found))


def rewrite(files: Sequence[str], report: Report, *, check: bool) -> Rewritten:
    """Rewrites what is spelt as in old documents; with `check` it only looks."""
    texts = load.texts(files, report)
    changed = []
    for name, text in texts.items():
        migration = migrate(text, name)
        report.add(*migration.diagnostics)
        if migration.text is None:
            continue
        changed.append(name)
        if not check:
            _replace(Path(name), migration.text, report)
    return Rewritten(changed, texts)


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        yield from (Path(place, each) for each in sorted(names) if each.endswith(SUFFIXES) and each[0] != ".")


def _replace(path: Path, text: str, report: Report) -> None:
    """In one step, with the mode of the old file; through a link, the file that it leads to."""
    path = path.resolve()
    temporary = path.with_name(f".{path.name}.stowplan")
    try:
        content, mode = path.read_bytes(), path.stat().st_mode
        mark = BOM_UTF8 if content.startswith(BOM_UTF8) else b""
        temporary.write_bytes(mark + text.encode())
        temporary.chmod(mode)
        temporary.replace(path)
    except OSError as error:
        message = f"The file could not be rewritten: {error.strerror}."
        found = finding("SP112", (), message, "Give yourself the right to write it.")
        report.add(diagnose_at(Location(path.name, START.line, START.column), found))
        temporary.unlink(missing_ok=True)
