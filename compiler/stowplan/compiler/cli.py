"""The command line: parses options, calls one function, prints what came of it.

Exit codes: 0 fine, 1 errors or `--check` found differences, 2 wrong usage.
"""

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from stowplan.compiler.source import Diagnostic, Report

if TYPE_CHECKING:
    from stowplan.compiler.pipeline import Compiled

app = typer.Typer(
    name="stowplan",
    help="Compile specs of training data and training jobs into Kubernetes manifests that Argo CD syncs.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Format(StrEnum):
    """How diagnostics are printed."""

    TEXT = "text"
    JSON = "json"


Repo = Annotated[Path, typer.Argument(help="Folder with stowplan.yaml and specs/.", show_default="this folder")]
Out = Annotated[Path | None, typer.Option("--out", help="Output folder.", show_default="REPO/out")]
FormatOption = Annotated[Format, typer.Option("--format", help="How diagnostics are printed.")]


def main() -> None:
    """Entry point of the `stowplan` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # File names and excerpts may hold what a terminal or pipe without UTF-8 cannot show.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except BrokenPipeError:
        # The reader of our output has gone, as with `| head`; nothing is left to tell anyone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None


@app.callback(invoke_without_command=True)
def top(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Compile specs of training data and training jobs into Kubernetes manifests that Argo CD syncs."""
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415 - start-up time

        typer.echo(f"stowplan {installed('stowplan')}")
        raise typer.Exit


@app.command()
def validate(repo: Repo = Path(), output_format: FormatOption = Format.TEXT) -> None:
    """Check all specs and say everything that is wrong with them."""
    from stowplan.compiler.pipeline import validate_repository  # noqa: PLC0415 - start-up time

    report = Report()
    compiled = validate_repository(_folder(repo), report)
    _finish(report, compiled.sources.texts, output_format, {"objects": len(compiled.outputs)}, [])


@app.command()
def synth(
    repo: Repo = Path(),
    out: Out = None,
    *,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; fail and show the difference if the output is not up to date."),
    ] = False,
    recompile: Annotated[
        list[str] | None,
        typer.Option(
            "--recompile",
            metavar="NAME",
            help="Compile the runs of this spec anew although it has not changed, as `imagenet`, `ml/imagenet` or "
            "`SampleSet ml/imagenet`; `all` for every spec. Their Jobs may start again.",
        ),
    ] = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Compile all specs into the output folder."""
    from stowplan.compiler.pipeline import compile_repository  # noqa: PLC0415 - start-up time
    from stowplan.compiler.runs import Recompile  # noqa: PLC0415

    folder = _folder(repo)
    target = _apart_from_specs(out or folder / "out", folder)
    report = Report()
    names = frozenset(recompile or ())
    renewed = Recompile("all" in names, names - {"all"})
    compiled = compile_repository(folder, target, report, renewed)
    extra: dict[str, Any] = {"objects": len(compiled.outputs)}
    lines: list[str] = []
    if not report.failed:
        _refuse_unknown(renewed.unknown({output.spec for output in compiled.outputs if output.spec}))
        more, lines = (_compare if check else _write)(compiled, target, report)
        extra |= more
    extra["starts"] = [] if report.failed else [str(run) for run in compiled.starts]
    lines = [*(f"starts when synced: {run}" for run in extra["starts"]), *lines]
    _finish(report, compiled.sources.texts, output_format, extra, lines, failed=not extra.get("upToDate", True))


@app.command()
def crds(folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("crds")) -> None:
    """Write the CustomResourceDefinitions of all kinds."""
    from stowplan.compiler import export  # noqa: PLC0415 - start-up time

    _write_files(folder, export.crds())


@app.command()
def schema(folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("schema")) -> None:
    """Write the JSON Schemas of all kinds and of the platform file, for editors."""
    from stowplan.compiler import export  # noqa: PLC0415 - start-up time

    _write_files(folder, export.schemas())


@app.command()
def explain(code: Annotated[str, typer.Argument(metavar="CODE", help="Code of a diagnostic, such as SP204.")]) -> None:
    """Say what a code means, why it matters and what to do, with an example."""
    from stowplan.compiler.pages import page  # noqa: PLC0415 - start-up time
    from stowplan.schema.codes import CATALOGUE  # noqa: PLC0415
    from stowplan.schema.diagnostics import did_you_mean  # noqa: PLC0415

    text = page(code)
    if text is None:
        raise typer.BadParameter(f"{code} is not a code. {did_you_mean(code, CATALOGUE)}", param_hint="CODE")
    typer.echo(text, nl=False)


def _refuse_unknown(names: list[str]) -> None:
    if names:
        raise typer.BadParameter(f"There is no spec {names[0]}.", param_hint="--recompile")


def _compare(compiled: "Compiled", target: Path, report: Report) -> tuple[dict[str, Any], list[str]]:
    """What differs, for JSON and for people."""
    from stowplan.compiler.comparison import compare  # noqa: PLC0415 - start-up time

    comparison = compare(compiled.outputs, target, compiled.committed, report)
    lines = _comparison_lines(comparison.lines(), target, differs=not comparison.same)
    return {"upToDate": comparison.same}, lines


def _write(compiled: "Compiled", target: Path, report: Report) -> tuple[dict[str, Any], list[str]]:
    """What was written, for JSON and for people."""
    from stowplan.compiler.write import write  # noqa: PLC0415 - start-up time

    result = write(compiled.outputs, target, compiled.committed, report)
    counts = {name: len(getattr(result, name)) for name in ("created", "changed", "unchanged", "removed")}
    line = f"{target}: " + ", ".join(f"{number} {name}" for name, number in counts.items())
    return {"files": counts}, [] if report.failed else [line]


def _folder(repo: Path) -> Path:
    if not repo.is_dir():
        raise typer.BadParameter(f"{repo} is not a folder.", param_hint="REPO")
    return repo


def _apart_from_specs(out: Path, repo: Path) -> Path:
    """`out`, unless what is written there would be read as specs, or removed and written among them."""
    from stowplan.compiler.load import SPECS  # noqa: PLC0415 - start-up time

    written, read = Path(os.path.realpath(out)), Path(os.path.realpath(repo / SPECS))
    if written.is_relative_to(read) or read.is_relative_to(written):
        message = f"{out} is in or around {repo / SPECS}. Name a folder apart from the specs, such as {repo / 'out'}."
        raise typer.BadParameter(message, param_hint="--out")
    return out


def _write_files(folder: Path, files: dict[str, str]) -> None:
    from stowplan.compiler.export import write_files  # noqa: PLC0415 - start-up time

    try:
        write_files(folder, files)
    except OSError as error:
        raise typer.BadParameter(f"{folder}: {error.strerror}.", param_hint="FOLDER") from None
    for name in sorted(files):
        typer.echo(str(folder / name))


def _comparison_lines(differences: Any, target: Path, *, differs: bool) -> list[str]:
    if not differs:
        return [f"{target} is what the specs compile to."]
    return [*differences, "", f"{target} is not what the specs compile to. Run `stowplan synth` and commit the result."]


def _finish(
    report: Report,
    texts: Any,
    output_format: Format,
    extra: dict[str, Any],
    lines: Sequence[str],
    *,
    failed: bool = False,
) -> None:
    """Print, and end with the exit code."""
    from stowplan.compiler.console import as_json, print_text  # noqa: PLC0415 - start-up time

    diagnostics: list[Diagnostic] = report.diagnostics
    if output_format is Format.JSON:
        typer.echo(as_json(diagnostics, extra))
    else:
        print_text(Console(), diagnostics, texts)
        for line in lines:
            typer.echo(line)
    raise typer.Exit(1 if report.failed or failed else 0)
