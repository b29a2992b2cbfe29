"""The command `explain`."""

from typing import Annotated

import typer


def explain(code: Annotated[str, typer.Argument(metavar="CODE", help="Code of a diagnostic, such as SP204.")]) -> None:
    """Say what a code means, why it matters and what to do, with an example."""
    from stowplan.compiler.pages import page  # noqa: PLC0415 - start-up time
    from stowplan.schema.codes import CATALOGUE  # noqa: PLC0415
    from stowplan.schema.diagnostics import did_you_mean  # noqa: PLC0415

    text = page(code)
    if text is None:
        raise typer.BadParameter(f"{code} is not a code. {did_you_mean(code, CATALOGUE)}", param_hint="CODE")
    typer.echo(text, nl=False)
