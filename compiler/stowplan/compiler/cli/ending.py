"""The end of a command: its output and its exit code."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import typer

from stowplan.compiler.cli.options import Format
from stowplan.compiler.diagnostics.locations import SYNTH
from stowplan.compiler.diagnostics.report import Diagnostic, Report


@dataclass(frozen=True, slots=True)
class Ending:
    """What a command needs to print its diagnostics at its end: the repository's folder, the report and the format."""

    repo: Path
    report: Report
    texts: Mapping[str, str]
    """The contents of the files that diagnostics name, by path."""
    output_format: Format
    command: str = SYNTH
    """What `stowplan synth` in hints stands for, see `options.command`."""

    def finish(self, extra: dict[str, Any], lines: Sequence[str] = (), *, failed: bool = False) -> NoReturn:
        """Print the diagnostics and raise `typer.Exit`: code 1 if there is an error or `failed` is true, else 0.

        `lines` are printed last in the formats `text` and `github`; `extra` are further entries of the `json` object.
        """
        diagnostics = advising(self.report.diagnostics, self.command)
        match self.output_format:
            case Format.TEXT:
                self._print_text(diagnostics)
            case Format.JSON:
                from stowplan.compiler.diagnostics.console import as_json  # noqa: PLC0415 - start-up time

                typer.echo(as_json(diagnostics, extra))
            case Format.SARIF:
                from stowplan.compiler.diagnostics.sarif import sarif  # noqa: PLC0415 - start-up time

                typer.echo(sarif(diagnostics, _from_here(self.repo)))
            case Format.GITHUB:
                from stowplan.compiler.diagnostics.github_annotations import annotations  # noqa: PLC0415 - start-up time

                for line in annotations(diagnostics, _from_here(self.repo)):
                    typer.echo(line)
        for line in lines if self.output_format in (Format.TEXT, Format.GITHUB) else ():
            typer.echo(line)
        raise typer.Exit(1 if self.report.failed or failed else 0)

    def _print_text(self, diagnostics: Sequence[Diagnostic]) -> None:
        from stowplan.compiler.diagnostics.console import print_text, summary, terminal  # noqa: PLC0415 - start-up time

        if diagnostics:
            print_text(terminal(), diagnostics, self.texts)
        else:
            typer.echo(summary(()))


def advising(diagnostics: Sequence[Diagnostic], command: str) -> Sequence[Diagnostic]:
    """Return the diagnostics with commands in their hints that work as they stand, see `completed`."""
    return [replace(each, hint=completed(each.hint, command)) for each in diagnostics]


def completed(advice: str, command: str) -> str:
    """Return `advice` with `command`, which is what `options.command` returns, for each "`stowplan synth"."""
    return advice.replace(f"`{SYNTH}", f"`{command}")


def fail(sentence: str) -> NoReturn:
    """Print `sentence` to standard error, and raise `typer.Exit` with code 1."""
    typer.echo(sentence, err=True)
    raise typer.Exit(1)


@contextmanager
def busy(word: str) -> Iterator[None]:
    """Show `word` on a terminal while work is in progress, then erase it; elsewhere show nothing.

    Erasing needs escape sequences, so NO_COLOR disables it too.
    """
    if not sys.stderr.isatty() or os.environ.get("NO_COLOR"):
        yield
        return
    from stowplan.compiler.diagnostics.console import terminal  # noqa: PLC0415 - start-up time

    with terminal(stderr=True).status(word):
        yield


def _from_here(repo: Path) -> str:
    """Return the folder of the repository as CI services name it: relative to the current folder, with slashes."""
    try:
        return Path(os.path.relpath(repo)).as_posix()
    except ValueError:
        # On Windows no relative path leads from one drive to another.
        return repo.as_posix()
