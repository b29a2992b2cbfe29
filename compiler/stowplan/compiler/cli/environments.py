"""The option `--env`, and the environments and clusters that it chooses."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.options import Format
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.repository.load import Checkout

EnvOption = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="NAME",
        help="Environment of the platform file, such as `prod`, or one of its clusters, such as `prod/prod-a`.",
        show_default="all",
    ),
]


def chosen(checkout: "Checkout", out: Path, env: str | None, output_format: Format = Format.TEXT) -> "Sequence[Target]":
    """Return the targets that the option `--env` names, at least one; all of them for None or `all`.

    `out` is the output folder of all targets. Raises `typer.BadParameter` for a name that the platform file does not
    have. If its environments have errors, prints them in the format `output_format` and raises `typer.Exit`.
    """
    from stowplan.compiler.compiling.destinations import destinations  # noqa: PLC0415 - start-up time
    from stowplan.schema.diagnostics import did_you_mean  # noqa: PLC0415

    report = Report()
    found = destinations(checkout, out, report)
    if not found:
        Ending(checkout.repo.folder, report, checkout.texts, output_format).finish({})
    if env is None or (env == "all" and found[0].name):
        return found
    names = {
        name: [each for each in found if name in (each.name, each.environment.name)]
        for target in found
        for name in (target.environment.name, target.name)
    }
    if not found[0].name:
        raise typer.BadParameter("The platform file has no environments.", param_hint="--env")
    if env not in names:
        raise typer.BadParameter(f"There is no environment {env}. {did_you_mean(env, names)}", param_hint="--env")
    return names[env]


def only_one(targets: "Sequence[Target]") -> "Target":
    """Return the first of `targets`, at least one. Raises `typer.BadParameter` if they are of several environments."""
    if len({each.environment.name for each in targets}) > 1:
        names = ", ".join(dict.fromkeys(each.environment.name for each in targets))
        raise typer.BadParameter(f"Name one of the environments: {names}.", param_hint="--env")
    return targets[0]
