"""The option `--fail-on`: risks for which a command ends with exit code 1, so that CI stops a merge."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from stowplan.compiler.review.scene import Scenes


class Gate(StrEnum):
    """What `--fail-on` can stop a merge for."""

    SECURITY = "security"
    DATA_LOSS = "data-loss"
    RERUN = "rerun"
    RIGHTS = "rights"


FailOn = Annotated[
    str | None,
    typer.Option(
        metavar="RISKS",
        help=f"End with exit code 1 if there are such risks: {', '.join(Gate)}; several with commas.",
        show_default="none",
    ),
]


def stop_on(found: "Scenes", fail_on: str | None) -> None:
    """Print each risk that `fail_on` lists to standard error, and raise `typer.Exit` with code 1 if there are any.

    `fail_on` has words of `Gate` with commas between them; None for none. Raises `typer.BadParameter` for another word.
    A rerun is a run that ends and starts again, or that is ended.
    """
    if fail_on is None:
        return
    from stowplan.compiler.diagnostics.escaping import visible  # noqa: PLC0415 - start-up time
    from stowplan.compiler.diff.change import Action, Danger  # noqa: PLC0415
    from stowplan.compiler.diff.wording import title  # noqa: PLC0415

    dangers = {
        Gate.SECURITY: Danger.SECURITY,
        Gate.DATA_LOSS: Danger.DATA,
        Gate.RERUN: Danger.RUN,
        Gate.RIGHTS: Danger.RIGHTS,
    }
    said = []
    for gate in _gates(fail_on):
        for name, change in ((each.name, change) for each in found.all for change in each.changes):
            if gate is Gate.RERUN and change.action not in (Action.REPLACED, Action.REMOVED):
                continue
            where = f" ({name})" if name else ""
            risks = (each for each in change.risks if each.danger is dangers[gate])
            said += [f"{gate}: {title(change)}{where}: {visible(each.text)}" for each in risks]
    for line in said:
        typer.echo(line, err=True)
    if said:
        raise typer.Exit(1)


def _gates(text: str) -> list[Gate]:
    words = [word.strip() for word in text.split(",")]
    if unknown := [word for word in words if word not in list(Gate)]:
        raise typer.BadParameter(f'"{unknown[0]}" is none of {", ".join(Gate)}.', param_hint="--fail-on")
    return [Gate(word) for word in words]
