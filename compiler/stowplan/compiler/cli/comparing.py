"""The command `diff`."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.options import Format, Out, Repo, apart_from_specs, folder
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from stowplan.compiler.diff.change import Change


class Shape(StrEnum):
    """Format in which `diff` prints changes."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


Base = Annotated[
    str | None,
    typer.Option(metavar="REV", help="Commit to compare with.", show_default="the output folder as it is"),
]
ShapeOption = Annotated[Shape, typer.Option("--format", help="For a terminal, for a comment, or for programs.")]


def diff(repo: Repo = Path(), out: Out = None, *, base: Base = None, shape: ShapeOption = Shape.TEXT) -> None:
    """Say what the specs change in the output, object by object, the riskiest first. Writes nothing.

    Example: stowplan diff --base origin/main --format markdown
    """
    from stowplan.compiler.diff.base import at_commit, on_disk  # noqa: PLC0415
    from stowplan.compiler.diff.comparison import compare  # noqa: PLC0415
    from stowplan.compiler.diff.risks.foreign import foreign, without  # noqa: PLC0415
    from stowplan.compiler.diff.risks.unvouched import judged  # noqa: PLC0415
    from stowplan.compiler.output.folder import scan  # noqa: PLC0415
    from stowplan.compiler.output.write import unusable  # noqa: PLC0415
    from stowplan.compiler.pipeline import compile_repository  # noqa: PLC0415
    from stowplan.compiler.repository.commit import BaseError  # noqa: PLC0415 - start-up time

    source = folder(repo)
    target = apart_from_specs(out or source / "out", source)
    report = Report()
    try:
        before = at_commit(target, base) if base else on_disk(target)
        compiled = compile_repository(source, target, report, base=judged(before, base))
        if report.failed:
            Ending(source, report, compiled.texts, Format.TEXT).finish({})
        found = foreign(compiled.files, scan(target), compiled.committed, before if base else None)
    except BaseError as error:
        raise typer.BadParameter(str(error), param_hint="--base") from None
    except OSError as error:
        report.add(unusable(target, error))
        Ending(source, report, {}, Format.TEXT).finish({})
    _print([*found, *compare(without(found, before, compiled.files), compiled.outputs)], shape)


def _print(changes: "Sequence[Change]", shape: Shape) -> None:
    if shape is Shape.MARKDOWN:
        from stowplan.compiler.diff.markdown import comment  # noqa: PLC0415 - start-up time

        typer.echo(comment(changes))
    elif shape is Shape.JSON:
        from stowplan.compiler.diff.records import records  # noqa: PLC0415 - start-up time

        typer.echo(json.dumps({"changes": records(changes)}, indent=2))
    else:
        from stowplan.compiler.diagnostics.console import terminal  # noqa: PLC0415 - start-up time
        from stowplan.compiler.diff.terminal import lines  # noqa: PLC0415

        console = terminal()
        for line in lines(changes):
            console.print(line, soft_wrap=True, highlight=False)
