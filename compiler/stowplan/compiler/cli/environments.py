"""The option `--env`, and the environments and clusters that it chooses."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from stowplan.compiler.cli.ending import Ending
from stowplan.compiler.cli.options import Format
from stowplan.compiler.diagnostics.report import Report
from stowplan.compiler.repository.layout import Repository

if TYPE_CHECKING:
    from stowplan.compiler.environments.target import Target

EnvOption = Annotated[
    str | None,
    typer.Option(
        "--env",
        metavar="NAME",
        help="Environment of the platform file, such as `prod`, or one of its clusters, such as `prod/prod-a`.",
        show_default="all",
    ),
]


def chosen(repo: Repository, env: str | None, output_format: Format = Format.TEXT) -> "Sequence[Target]":
    """Return the targets that the option `--env` names; all without it or for `all`.

    Empty if the platform file has no environments; it is an error then to name one. If the platform file has errors in
    its environments, print them and end the process.
    """
    found = _targets(repo, output_format) if repo.may_have_environments else ()
    if env is None or (env == "all" and found):
        return found
    if not found:
        raise typer.BadParameter("The platform file has no environments.", param_hint="--env")
    from stowplan.schema.diagnostics import did_you_mean  # noqa: PLC0415 - start-up time

    names = {name: [each for each in found if name in (each.name, each.environment.name)] for name in _names(found)}
    if env not in names:
        raise typer.BadParameter(f"There is no environment {env}. {did_you_mean(env, names)}", param_hint="--env")
    return names[env]


def _targets(repo: Repository, output_format: Format) -> "Sequence[Target]":
    from stowplan.compiler.compiling.destinations import destinations  # noqa: PLC0415 - start-up time

    report = Report()
    found, texts = destinations(repo, report)
    if report.failed:
        Ending(repo.folder, report, texts, output_format).finish({})
    return found


def only_one(targets: "Sequence[Target]") -> "Target | None":
    """Return the first of the targets, None without any; `typer.BadParameter` if they are of several environments."""
    if len({each.environment.name for each in targets}) > 1:
        names = ", ".join(dict.fromkeys(each.environment.name for each in targets))
        raise typer.BadParameter(f"Name one of the environments: {names}.", param_hint="--env")
    return targets[0] if targets else None


def _names(targets: "Sequence[Target]") -> list[str]:
    return list(dict.fromkeys(name for each in targets for name in (each.environment.name, each.name)))
