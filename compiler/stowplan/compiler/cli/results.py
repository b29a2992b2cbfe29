"""What `validate`, `synth` and `watch` have in common: the cache before and after, and their last lines."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from stowplan.compiler.diagnostics.ci import in_ci
from stowplan.compiler.diagnostics.report import Report

if TYPE_CHECKING:
    from stowplan.compiler.cache.compiled_file import Known
    from stowplan.compiler.cache.stamp import Look
    from stowplan.compiler.output.write import WriteResult
    from stowplan.compiler.pipeline import Compiled
    from stowplan.compiler.repository.work_tree import Around

_FILES = "files"


def known_of(look: "Look | None") -> "Known":
    """Return the results of the last command that this command can use; empty if `look` is None."""
    from stowplan.compiler.cache.compiled_file import CompiledFiles, Known  # noqa: PLC0415 - start-up time

    if look is None:
        return Known()
    files = look.record.read(_FILES, CompiledFiles) or CompiledFiles()
    return Known(files, look.contents, look.tree, look.outputs)


def remember(
    look: "Look",
    known: "Known",
    compiled: "Compiled",
    report: Report,
    written: Mapping[str, str] | None = None,
    *,
    around: "Around | None" = None,
) -> None:
    """Store the results for the next command. With extensions in the platform file, nothing is stored.

    `written` are the SHA-256 digests of all output files by path; None for a command that writes nothing, as for
    `around`, which is what was seen of the Git work tree.
    """
    if compiled.known is None and not report.failed:
        look.forget()
        return
    look.remember(report, compiled.objects, compiled.count, compiled.texts, written=written, around=around)
    if compiled.known is not None and compiled.known != known.compiled:
        look.record.write(_FILES, compiled.known)


def refuse_unknown(names: list[str]) -> None:
    """Raise `typer.BadParameter` for names in `--recompile` that no spec has, if there are any."""
    if names:
        raise typer.BadParameter(f"There is no spec {names[0]}.", param_hint="--recompile")


def compare(compiled: "Compiled", target: Path, report: Report, again: str) -> tuple[dict[str, Any], list[str]]:
    """Return whether the output folder `target` is up to date, as a record for JSON and as lines for people.

    `again` is what the advised command needs, see `options.again`.
    """
    from stowplan.compiler.cli.ending import completed  # noqa: PLC0415 - start-up time
    from stowplan.compiler.output.up_to_date import compare  # noqa: PLC0415 - start-up time

    comparison = compare(compiled.files, target, compiled.committed, report)
    if not comparison.same:
        remedy = completed(comparison.remedy, again)
        lines = [*comparison.lines(), "", f"{target} is not what the specs compile to. {remedy}"]
    else:
        lines = [] if report.failed else [f"{target} is what the specs compile to."]
    return {"upToDate": comparison.same and not report.failed}, lines


def compare_with_git(target: Path, repo: Path, report: Report) -> None:
    """Report where Git holds the output folder `target` of the repository `repo` otherwise than the disk.

    Raises `typer.BadParameter` in CI if Git cannot be asked; elsewhere such a check is one of the disk alone.
    """
    from stowplan.compiler.git.work_tree import GitError  # noqa: PLC0415 - start-up time
    from stowplan.compiler.output.in_git import problems  # noqa: PLC0415
    from stowplan.compiler.output.write import unusable  # noqa: PLC0415

    try:
        report.add(*problems(target, repo))
    except GitError as error:
        if in_ci():
            raise typer.BadParameter(str(error), param_hint="--check") from None
    except OSError as error:
        report.add(unusable(target, error))


def written_line(target: Path, result: "WriteResult") -> str:
    """Return the last line that `synth` prints, such as `out: 2 created, 1 changed, 12 unchanged, 0 removed`."""
    return counted_line(target, counts(result))


def counted_line(target: Path, counts: dict[str, int]) -> str:
    """Return the last line of `synth` for these numbers of files, by what happened to them."""
    return f"{target}: " + ", ".join(f"{number} {name}" for name, number in counts.items())


def counts(result: "WriteResult") -> dict[str, int]:
    """Return the number of files by what happened to them."""
    return {name: len(getattr(result, name)) for name in ("created", "changed", "unchanged", "removed")}
