"""The command `comment`."""

import os
import re
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stowplan.compiler.cli.ending import fail

if TYPE_CHECKING:
    from stowplan.compiler.comments.request import Request

MOST_BYTES = 4 * 1024 * 1024
"""Maximum size of the file: GitLab allows a million characters."""


class Provider(StrEnum):
    """Service that the request is on."""

    GITHUB = "github"
    GITLAB = "gitlab"


_SENTENCES = {
    "created": "The comment is added.",
    "edited": "The comment is brought up to date.",
    "unchanged": "The comment is up to date.",
    "outdated": "Nothing is written: request {} is closed, or {} is not the newest commit of its branch.",
}
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)
_LINK = re.compile(r"https?://[\w.:/?=&%~+#-]+", re.ASCII)


def comment(
    *,
    provider: Annotated[Provider, typer.Option(help="Service that the request is on.")],
    file: Annotated[Path, typer.Option(metavar="FILE", help="Markdown of the comment.")],
    request: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Number of the pull or merge request.")],
    commit: Annotated[
        str,
        typer.Option(metavar="SHA", help="Commit that the Markdown is about. Nothing is written if it is not the tip."),
    ],
    link: Annotated[
        str,
        typer.Option(metavar="URL", help="Where the page is, such as the run of CI that has it.", show_default="none"),
    ] = "",
    author: Annotated[
        str,
        typer.Option(metavar="LOGIN", help="Account of the token. GitLab says it.", show_default="that of a workflow"),
    ] = "",
) -> None:
    """Keep one comment on a pull or merge request up to date: edit the one that is there, or add it.

    The token is in GITHUB_TOKEN or GITLAB_TOKEN. The variables of a CI job say where the request is: GITHUB_API_URL
    and GITHUB_REPOSITORY, or CI_API_V4_URL and CI_PROJECT_ID.

    Example: stowplan comment --provider gitlab --file comment.md --request 7 --commit "$CI_COMMIT_SHA"
    """
    from stowplan.compiler.comments.request import keep  # noqa: PLC0415 - start-up time
    from stowplan.compiler.comments.rest import RestError  # noqa: PLC0415

    if not _COMMIT.fullmatch(commit):
        raise typer.BadParameter("This is no full hash of a commit.", param_hint="--commit")
    if link and not _LINK.fullmatch(link):
        raise typer.BadParameter("This is no address of a page.", param_hint="--link")
    markdown = _read(file)
    try:
        on = _github(request, author) if provider is Provider.GITHUB else _gitlab(request)
        outcome = keep(on, markdown, commit=commit, link=link)
    except RestError as error:
        fail(str(error))
    typer.echo(_SENTENCES[outcome].format(request, commit))


def _read(file: Path) -> str:
    """Return the text of the file. Raises `BadParameter` if it is no regular file with UTF-8 of a bounded size."""
    try:
        if file.is_symlink() or not file.is_file():
            raise typer.BadParameter(f"{file} is not a file.", param_hint="--file")
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise typer.BadParameter(f"{file} is longer than {MOST_BYTES} bytes.", param_hint="--file")
        return content.decode()
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}.", param_hint="--file") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{file} is not UTF-8.", param_hint="--file") from None


def _github(number: int, author: str) -> "Request":
    from stowplan.compiler.comments import github  # noqa: PLC0415 - start-up time

    repository = _variable("GITHUB_REPOSITORY")
    if not _REPOSITORY.fullmatch(repository):
        fail("GITHUB_REPOSITORY must be a name such as ml/data.")
    rest = github.service(os.environ.get("GITHUB_API_URL") or "https://api.github.com", _variable("GITHUB_TOKEN"))
    return github.PullRequest(rest, repository, number, author or github.AUTHOR)


def _gitlab(number: int) -> "Request":
    from stowplan.compiler.comments import gitlab  # noqa: PLC0415 - start-up time

    project = _variable("CI_PROJECT_ID")
    if not project.isdecimal():
        fail("CI_PROJECT_ID must be the number of the project.")
    return gitlab.MergeRequest(
        gitlab.service(_variable("CI_API_V4_URL"), _variable("GITLAB_TOKEN")), int(project), number
    )


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        fail(f"The environment variable {name} is not set.")
    return value
