"""The command `adopt`."""

from pathlib import Path
from typing import Annotated

import typer

from stowplan.compiler.cli.environments import chosen
from stowplan.compiler.cli.options import Format, Out, PlatformOption, RepoOption, command, repository, writable_output

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Environment of the platform file, or one of its clusters, as `prod/prod-a`."),
]


def adopt(name: Name, *, repo: RepoOption = Path(), out: Out = None, platform: PlatformOption = None) -> None:
    """Move the output of a repository that had no environments into the folder of one, where its runs go on.

    Nothing is deleted, nothing runs again, and Argo CD's objects keep their names. Run `synth` after it.

    Example: stowplan adopt prod
    """
    from stowplan.compiler.committed import adoption  # noqa: PLC0415 - start-up time
    from stowplan.compiler.compiling.reading import read  # noqa: PLC0415
    from stowplan.compiler.diagnostics.report import Report  # noqa: PLC0415
    from stowplan.compiler.output import inventory_files, lock, paths  # noqa: PLC0415
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415

    source = repository(repo, platform)
    top = writable_output(out, source)
    checkout = Checkout(source)
    targets = chosen(checkout, top, name, Format.TEXT)
    if len(targets) > 1:
        names = ", ".join(each.name for each in targets)
        raise typer.BadParameter(f"Name one of its clusters: {names}.", param_hint="NAME")
    (target,) = targets
    if not inventory_files.exists(top):
        raise typer.BadParameter(f"{top} has no output of the time before there were environments.", param_hint="NAME")
    settings = read(checkout, target, (), Report()).program.platform.argocd
    if other := adoption.other_cluster(top, settings):
        message = (
            f"The output goes to the cluster {other}, and {name} is another one: all runs would start again there."
        )
        raise typer.BadParameter(f"{message} Name the environment or cluster with that destination.", param_hint="NAME")
    try:
        with lock.held(top) as alone:
            if not alone:
                raise typer.BadParameter(f"Another command is writing {top}.", param_hint="--out")
            number = adoption.adopt(top, target)
    except FileExistsError as error:
        raise typer.BadParameter(f"{error.args[0]} is there already.", param_hint="NAME") from None
    except OSError as error:
        raise typer.BadParameter(f"{error.filename} cannot be moved: {error.strerror}.", param_hint="--out") from None
    typer.echo(f"{number} files moved to {top / target.name}. Run `{command(source, top)}` and commit both.")
    if settings.repo_url:
        typer.echo(f"Once that is merged, apply {top / target.name / paths.ROOT} to Argo CD's cluster.")
