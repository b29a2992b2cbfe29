"""The end of `init --upgrade`: what is older than this version, and what became of it."""

from collections.abc import Iterator
from difflib import unified_diff
from importlib.metadata import version
from pathlib import Path

import typer

from stowplan.compiler.diagnostics.escaping import logged
from stowplan.compiler.generate.starter import installation, upgrade
from stowplan.compiler.generate.starter.stamp import line_of
from stowplan.compiler.generate.starter.upgrade import FileState, StarterFile


def upgrade_files(folder: Path) -> None:
    """Write anew what an older version wrote in the repository `folder`; print it, and what a person has to merge."""
    found = upgrade.compare(folder)
    upgrade.write(folder, found)
    _say(folder, found, "updated")


def check_files(folder: Path) -> None:
    """Print what `upgrade_files` would; write nothing. Raise `typer.Exit` with code 1 if it would write anything."""
    found = upgrade.compare(folder)
    _say(folder, found, "older")
    if any(each.state is FileState.OLDER for each in found):
        own = f"Stowplan {version('stowplan')}"
        typer.echo(f"These files are older than {own}, which may have mended them.")
        typer.echo(f"With {own} run `stowplan init{_argument(folder)} --upgrade`, and commit what it writes.")
        raise typer.Exit(1)


def _say(folder: Path, found: list[StarterFile], word: str) -> None:
    for each in found:
        path = folder / each.path
        if each.state is FileState.OLDER:
            _echo(_diff(each))
            typer.echo(f"{word} {path}")
        elif each.state is FileState.EDITED:
            _echo(_diff(each))
            typer.echo(f"edited {path}: it stays. Merge by hand what the diff shows.")
            if stamp := line_of(each.wanted):
                typer.echo(f"Then let it end in this line: {stamp}")
            elif each.path == installation.FILE and installation.incomplete(each.wanted):
                typer.echo("CI installs another Stowplan until then.")
    if absent := [each.path for each in found if each.state is FileState.ABSENT]:
        typer.echo(f"Not here, so left out: {', '.join(absent)}. `stowplan init` writes them.")
    if all(each.state in (FileState.CURRENT, FileState.ABSENT) for each in found):
        typer.echo("All files are those of this version.")


def _diff(file: StarterFile) -> Iterator[str]:
    """Return the lines of a diff; none for long files that programs write."""
    if file.path.startswith(".schemas/") or file.path.endswith("-dependencies.txt"):
        return iter(())
    before, wanted = ([logged(line) for line in text.splitlines()] for text in (file.before, file.wanted))
    return unified_diff(before, wanted, f"here/{file.path}", f"this version/{file.path}", lineterm="")


def _echo(lines: Iterator[str]) -> None:
    for line in lines:
        typer.echo(line)


def _argument(folder: Path) -> str:
    return "" if folder == Path() else f" {folder}"
