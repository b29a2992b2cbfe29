"""The command `report`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stowplan.compiler.cli.environments import EnvOption, chosen
from stowplan.compiler.cli.options import Out, PlatformOption, Repo, repository, writable_output
from stowplan.compiler.cli.review.changes import compared
from stowplan.compiler.cli.review.comparing import Base
from stowplan.compiler.cli.review.risk_gates import FailOn, stop_on
from stowplan.compiler.cli.writing import append, is_stream, write

if TYPE_CHECKING:
    from stowplan.compiler.review.model import Review
    from stowplan.compiler.review.scene import Scenes
_DIGITS = 12
"""Digits of a commit that reviewers see."""


class ReviewFormat(StrEnum):
    """Format of a review."""

    HTML = "html"
    MARKDOWN = "markdown"


File = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File to write.", show_default="report.html, or standard output for Markdown"),
]
FormatOption = Annotated[ReviewFormat, typer.Option("--format", help="A page for a browser, or a comment.")]
Page = Annotated[str, typer.Option(metavar="URL", help="Where the page is, for a link in the comment.")]


def report(
    repo: Repo = Path(),
    out: Out = None,
    *,
    env: EnvOption = None,
    platform: PlatformOption = None,
    base: Base = None,
    file: File = None,
    shape: FormatOption = ReviewFormat.HTML,
    page: Page = "",
    fail_on: FailOn = None,
) -> None:
    """Write a page for the reviewers of a change: what runs, what ends, what it costs, and what could be lost.

    The page is one file that needs no network. As Markdown, the review is a short comment for a pull request.

    Example: stowplan report --base origin/main -o report.html
    """
    from stowplan.compiler.repository.load import Checkout  # noqa: PLC0415 - start-up time

    source = repository(repo, platform)
    top = writable_output(out, source)
    checkout = Checkout(source)
    found = compared(checkout, top, base, chosen(checkout, top, env))
    made = reviewed(found, source.folder, base)
    if shape is ReviewFormat.MARKDOWN:
        _write_comment(made, found, page, file)
    else:
        from stowplan.compiler.review.page.render import render  # noqa: PLC0415 - start-up time

        _write(file or Path("report.html"), render(made))
    stop_on(found, fail_on)


def reviewed(found: "Scenes", folder: Path, base: str | None) -> "Review":
    """Return the review of what was compared with the commit `base`, or with the output folder as it is.

    `folder` is that of the repository.
    """
    from importlib.metadata import version  # noqa: PLC0415 - start-up time

    from stowplan.compiler.review.build import review  # noqa: PLC0415

    return review(found, _shown(folder, base) if base else "the output folder", version("stowplan"))


def _shown(folder: Path, base: str) -> str:
    """Return a base commit as reviewers see it: its short name, and which commit the change is compared with."""
    from stowplan.compiler.git.commit import merge_base  # noqa: PLC0415 - start-up time
    from stowplan.compiler.git.work_tree import around  # noqa: PLC0415

    commit = merge_base(around(folder, folder), base)[:_DIGITS]
    return commit if base.startswith(commit) else f"{base.removeprefix('refs/remotes/')} ({commit})"


def _write_comment(made: "Review", found: "Scenes", page: str, file: Path | None) -> None:
    from stowplan.compiler.review.markdown import comment  # noqa: PLC0415 - start-up time

    text = comment(made, {each.name: each.changes for each in found.all}, page=page)
    if file:
        _write(file, text + "\n")
    else:
        typer.echo(text)


def _write(file: Path, text: str) -> None:
    """Write the file. The folders of a relative path may be those of a checkout: what is a link there is refused."""
    from stowplan.compiler.repository import own_files  # noqa: PLC0415 - start-up time

    if is_stream(file):
        append(file, text, "--output")
        return
    try:
        own_files.make_folder(file.parent, file.parent if file.is_absolute() else Path())
    except OSError as error:
        raise typer.BadParameter(f"{error.filename}: {error.strerror}.", param_hint="--output") from None
    write(file, text, "--output")
    typer.echo(f"Wrote {file}", err=True)
