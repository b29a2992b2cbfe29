"""The command `status`."""

import json
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stowplan.compiler.cli.ending import Ending, busy, fail
from stowplan.compiler.cli.environments import EnvOption, chosen, only_one
from stowplan.compiler.cli.options import Format, Out, PlatformOption, Repo, command, output, repository
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from stowplan.compiler.environments.target import Target
    from stowplan.compiler.repository.load import Checkout
    from stowplan.schema.meta import SpecId


class StatusFormat(StrEnum):
    """Format in which `status` prints its result."""

    TEXT = "text"
    JSON = "json"


_EXTRA = "as `pip install '.[status]'` does in a checkout of Stowplan"


Context = Annotated[str | None, typer.Option(help="Context of the kubeconfig.", show_default="the current one")]
Kubeconfig = Annotated[Path | None, typer.Option(help="File to use.", show_default="as kubectl finds it")]
FormatOption = Annotated[StatusFormat, typer.Option("--format", help="For people or for programs.")]


def status(
    repo: Repo = Path(),
    out: Out = None,
    *,
    env: EnvOption = None,
    platform: PlatformOption = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    shape: FormatOption = StatusFormat.TEXT,
) -> None:
    """Say how the specs of a repository are in the cluster. Fails where one is degraded, missing or unknown.

    With environments, `--env` names the one whose cluster the context is of.

    Example: stowplan status my-repo --context production
    """
    from datetime import UTC, datetime  # noqa: PLC0415 - start-up time

    from stowplan.compiler.compiling.reading import read, texts  # noqa: PLC0415
    from stowplan.compiler.diagnostics.console import print_whole  # noqa: PLC0415
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415

    try:
        from stowplan.compiler.live.resources import ClusterClient, ClusterError, KubeconfigError  # noqa: PLC0415
        from stowplan.compiler.live.spec_status import spec_status  # noqa: PLC0415
    except ModuleNotFoundError as error:
        fail(f"The package {error.name} is not installed: install Stowplan with its extra `status`, {_EXTRA}.")
    from stowplan.compiler.live.table import records, summary, table  # noqa: PLC0415

    report, source = Report(), repository(repo, platform)
    checkout, top = Checkout(source), output(out, source)
    target = only_one(chosen(checkout, top, env))
    specs = [each.id for each in read(checkout, target, (), report).program.specs]
    if report.failed:
        Ending(source.folder, report, texts(checkout, report), Format.TEXT).finish({})
    try:
        with busy("Asking the cluster"):
            cluster = ClusterClient.connect(context, str(kubeconfig) if kubeconfig else None)
            live = cluster.custom_resources(specs)
    except KubeconfigError as error:
        if context or kubeconfig:
            raise typer.BadParameter(str(error), param_hint="--context" if context else "--kubeconfig") from None
        fail(str(error))
    except ClusterError as error:
        fail(str(error))
    waiting = _waiting(checkout, top, target) if target.runs is not None else {}
    found = [spec_status(spec, live.get(spec), datetime.now(UTC), waiting.get(spec, "")) for spec in specs]
    if shape is StatusFormat.JSON:
        typer.echo(json.dumps({"specs": records(found)}, indent=2))
    else:
        print_whole(table(found))
        typer.echo(summary(found))
    raise typer.Exit(0 if all(each.well for each in found) else 1)


def _waiting(checkout: "Checkout", out: Path, target: "Target") -> "dict[SpecId, str]":
    """Return how to start each run that waits to be started, by spec. The specs have no errors in reading."""
    from stowplan.compiler.lowering.composer_pool import ComposerPool  # noqa: PLC0415 - start-up time
    from stowplan.compiler.pipeline import Compiler, Options  # noqa: PLC0415

    report, options = Report(), Options(keep_objects=False)
    with closing(ComposerPool(lasting=False)) as composer:
        compiled = Compiler(checkout, composer).synth(target, out / target.name, options, report)
    if report.failed:
        Ending(checkout.repo.folder, report, compiled.texts, Format.TEXT, command(checkout.repo, out)).finish({})
    return {spec: f"{found.message} {found.hint}" for spec, found in compiled.waiting.items()}
