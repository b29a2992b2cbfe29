"""The commands that write generated files: `init`, `crds` and `schema`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class CiOfOutput(StrEnum):
    """What CI does with the output folder: check or commit it. As `ci_files.Ci`, which takes long to import."""

    CHECK = "check"
    COMMIT = "commit"


def init(
    folder: Annotated[Path, typer.Argument(help="Folder of the repository.", show_default="this folder")] = Path(),
    *,
    legacy: Annotated[
        bool, typer.Option("--legacy", help="Write specs of SampleSet and PaddleJob, the kinds of paddle-operator.")
    ] = False,
    environments: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Environments of the platform file, such as `dev,prod`.", show_default="none"
        ),
    ] = "",
    ci: Annotated[
        CiOfOutput,
        typer.Option(help="Whether you commit the output and CI checks it, or CI commits it on the main branch."),
    ] = CiOfOutput.CHECK,
    upgrade: Annotated[
        bool,
        typer.Option(
            "--upgrade",
            help="Bring CI files, hooks, requirements and editor schemas that an older version wrote up to date, and "
            "show the difference. Files that were edited stay; merge them by hand.",
        ),
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="With --upgrade: change nothing; fail if it would write anything.")
    ] = False,
) -> None:
    """Start a repository: platform file, a Dataset, a Training, editor settings, CI jobs.

    Files that are there stay as they are.

    Example: stowplan init my-repo --environments dev,prod
    """
    if check and not upgrade:
        raise typer.BadParameter("It needs --upgrade.", param_hint="--check")
    if upgrade:
        _upgrade(folder, check=check)
        return
    from stowplan.compiler.generate import starter  # noqa: PLC0415 - start-up time
    from stowplan.compiler.generate.starter import environments as of_starter  # noqa: PLC0415
    from stowplan.compiler.generate.starter import installation  # noqa: PLC0415
    from stowplan.compiler.generate.starter.ci_files import Ci, of_other_ci  # noqa: PLC0415

    names = [name.strip() for name in environments.split(",")] if environments else []
    if problem := of_starter.problem(names):
        raise typer.BadParameter(problem, param_hint="--environments")
    try:
        written, kept = starter.write(folder, legacy=legacy, environment_names=names, ci=Ci(ci))
        others = of_other_ci(folder, Ci(ci))
    except OSError as error:
        raise typer.BadParameter(f"{error.filename or folder}: {error.strerror}.", param_hint="FOLDER") from None
    for path in written:
        typer.echo(f"made {folder / path}")
    for path in kept:
        typer.echo(f"kept {folder / path}")
    if names and "stowplan.yaml" in kept:
        typer.echo(f"{folder / 'stowplan.yaml'} stays as it is: add `environments` with {', '.join(names)} to it.")
    if installation.FILE in written and installation.incomplete(installation.requirements()):
        typer.echo(f"CI cannot install Stowplan yet: finish {folder / installation.FILE}, which says how.")
    for path in others:
        typer.echo(f"{folder / path} is for `--ci {Ci(ci).other}`: remove it, and run this command again.")
    command = "stowplan synth" if ci is CiOfOutput.CHECK else "stowplan validate"
    where = "" if folder == Path() else f" {folder}"
    rest = "" if ci is CiOfOutput.CHECK else " CI then compiles them and commits out/."
    typer.echo(f"Next: edit the specs, run `{command}{where}`, and commit everything.{rest}")


def _upgrade(folder: Path, *, check: bool) -> None:
    from stowplan.compiler.cli.upgrading import check_files, upgrade_files  # noqa: PLC0415 - start-up time

    try:
        (check_files if check else upgrade_files)(folder)
    except OSError as error:
        raise typer.BadParameter(f"{error.filename or folder}: {error.strerror}.", param_hint="FOLDER") from None


def crds(folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("crds")) -> None:
    """Write the CustomResourceDefinitions of all kinds.

    Example: stowplan crds deploy/crds
    """
    from stowplan.compiler.generate import export  # noqa: PLC0415 - start-up time

    _write_files(folder, export.crds())


def schema(folder: Annotated[Path, typer.Argument(help="Folder to write to.")] = Path("schema")) -> None:
    """Write the JSON Schemas of all kinds and of the platform file, for editors.

    Pod templates are those of the Kubernetes version in the platform file of this folder, or the nearest one above.

    Example: stowplan schema .schemas
    """
    from stowplan.compiler.cli.options import folder as repository  # noqa: PLC0415 - start-up time
    from stowplan.compiler.generate import export  # noqa: PLC0415

    _write_files(folder, export.schemas(export.kubernetes_version(repository(Path()))))


def _write_files(folder: Path, files: dict[str, str]) -> None:
    from stowplan.compiler.generate.export import write_files  # noqa: PLC0415 - start-up time

    try:
        write_files(folder, files)
    except OSError as error:
        raise typer.BadParameter(f"{error.filename or folder}: {error.strerror}.", param_hint="FOLDER") from None
    for name in sorted(files):
        typer.echo(str(folder / name))
