"""The command `retire`."""

from pathlib import Path
from typing import Annotated

import typer

from stowplan.compiler.cli.ending import Ending, completed
from stowplan.compiler.cli.environments import EnvOption, chosen, only_one
from stowplan.compiler.cli.options import (
    Format,
    FormatOption,
    Out,
    PlatformOption,
    RepoOption,
    command,
    output,
    repository,
)
from stowplan.compiler.cli.writing import write
from stowplan.compiler.diagnostics.report import Report

Names = Annotated[
    list[str],
    typer.Argument(metavar="NAME...", help="Specs whose run is over, as `clean`, `ml/clean` or `SampleJob ml/clean`."),
]


def retire(
    names: Names,
    *,
    repo: RepoOption = Path(),
    out: Out = None,
    platform: PlatformOption = None,
    env: EnvOption = None,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """List finished runs in stowplan.runs.yaml: the next `synth` removes their Jobs, and they never run again.

    Each platform file has a list of its own: beside gpu.yaml it is gpu.runs.yaml. With environments, a run is over in
    the one that `--env` names, in all of its clusters.

    What the specs say stays in Git, and datasets keep their data. See first with `stowplan status` that the runs are
    over: Argo CD also ends one that is not.

    Example: stowplan retire ml/clean
    """
    from stowplan.compiler.committed.recompile import Recompile  # noqa: PLC0415 - start-up time
    from stowplan.compiler.compiling.retirable_runs import retirable  # noqa: PLC0415
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415
    from stowplan.compiler.yaml.run_list import with_runs  # noqa: PLC0415

    source, report = repository(repo, platform), Report()
    target = output(out, source)
    checkout = Checkout(source)
    clusters = chosen(checkout, target, env, output_format)
    only_one(clusters)
    found = retirable(checkout, target, clusters, report)
    runs = found.runs
    ending = Ending(source.folder, report, found.texts, output_format)
    if report.failed:
        ending.finish({})
    wanted = Recompile(names=frozenset(names))
    if unknown := wanted.unknown(list(runs)):
        message = f"There is no run of {unknown[0]} in {target}, or it is retired already."
        raise typer.BadParameter(message, param_hint="NAME")
    entries = [run for spec, own in sorted(runs.items()) if wanted.covers(spec) for run in own]
    path = source.folder / source.runs_file
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    digests = {(each.spec, each.run): str(each.digest) for each in found.compiled}
    listed = [each.model_dump(exclude_none=True) for each in entries]
    text = with_runs(before, listed, digests, source.platform)
    if text is None:
        raise typer.BadParameter(f"{path} is no list of runs.", param_hint="--repo")
    write(path, text, "--repo")
    retired = list(dict.fromkeys(each.spec for each in entries))
    lines = [f"retired {each}" for each in retired]
    more = completed(
        f"{path}: {len(entries)} added. Run `stowplan synth` to take their Jobs out of {target}.",
        command(source, target),
    )
    ending.finish({"retired": retired}, [*lines, more])
