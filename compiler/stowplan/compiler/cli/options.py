"""Options of several commands, and checks of their values."""

import os
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stowplan.compiler.diagnostics.locations import PLATFORM_FILES, SYNTH
from stowplan.compiler.repository.layout import SPECS, SUFFIXES, Repository


class Format(StrEnum):
    """Format in which commands print diagnostics."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


Repo = Annotated[
    Path,
    typer.Argument(help="Folder with stowplan.yaml and specs/.", show_default="this folder, or the nearest one above"),
]
RepoOption = Annotated[
    Path, typer.Option("--repo", help="Folder with stowplan.yaml and specs/.", show_default="as other commands find it")
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Output folder.", show_default="REPO/out, or REPO/out-NAME for the platform file NAME.yaml"
    ),
]
PlatformOption = Annotated[
    Path | None,
    typer.Option(
        "--platform",
        metavar="FILE",
        help="Another platform file of the repository. Its output has a folder of its own.",
        show_default="stowplan.yaml",
    ),
]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format", help="How diagnostics are printed: for people, for programs, or as CI services read them."
    ),
]


def folder(repo: Path) -> Path:
    """Return the folder of the repository for the argument `repo`. Raises `BadParameter` if it is not a folder.

    For the current folder, return the nearest folder with a platform file: this one or one above it. The search ends at
    the top of the Git work tree, so that no file of another user's folder is ever used.
    """
    if not repo.is_dir():
        raise typer.BadParameter(f"{repo} is not a folder.", param_hint="REPO")
    return repo if repo != Path() else _nearest_above(Path.cwd()) or repo


def _nearest_above(start: Path) -> Path | None:
    """Return a relative path from `start` to the nearest folder, here or above, with a platform file.

    None if there is no such folder in the Git work tree, or if `start` is in no work tree.
    """
    above = [start, *start.parents]
    top = next((index for index, each in enumerate(above) if (each / ".git").exists()), None)
    candidates = above[: top + 1] if top is not None else []
    found = next((each for each in candidates if any((each / name).exists() for name in PLATFORM_FILES)), None)
    return Path(os.path.relpath(found, start)) if found else None


def repository(repo: Path, platform: Path | None) -> Repository:
    """Return the repository for the argument `repo` and the option `--platform`, None for the usual platform file.

    Raises `BadParameter` if `repo` is not a folder, or `platform` not a YAML file in it and apart from the specs.
    """
    home = folder(repo)
    if platform is None:
        return Repository(home)
    if not platform.is_file():
        found = "is not a file" if os.path.lexists(platform) else "does not exist"
        raise typer.BadParameter(f"{platform} {found}.", param_hint="--platform")
    place = Path(os.path.realpath(platform.parent)) / platform.name
    top = Path(os.path.realpath(home))
    if not place.is_relative_to(top) or place.is_relative_to(top / SPECS) or place.suffix not in SUFFIXES:
        message = f"{platform} must be a file in {home}, apart from {SPECS}, whose name ends in .yaml or .yml."
        raise typer.BadParameter(message, param_hint="--platform")
    path = place.relative_to(top).as_posix()
    return Repository(home, "" if path in PLATFORM_FILES else path)


def output(out: Path | None, repo: Repository) -> Path:
    """Return the output folder for the option `--out`: for None, the usual one of the platform file.

    Raises `BadParameter` if the option `--platform` is given and the folder is in or around that of the usual platform
    file: of two outputs in one folder, each removes files of the other.
    """
    if out is None:
        return repo.usual_output
    usual = Repository(repo.folder).usual_output
    if repo.platform and _overlap(out, usual):
        message = (
            f"{out} is in or around {usual}, which is for the usual platform file."
            f" Name a folder of its own, such as {repo.usual_output}."
        )
        raise typer.BadParameter(message, param_hint="--out")
    return out


def writable_output(out: Path | None, repo: Repository) -> Path:
    """Return the output folder for the option `--out`, as `output`, for a command that writes it or compares with it.

    Also raises `BadParameter` if it is inside the folder of the specs or contains that folder, or if it holds the
    output of another platform file, which is still there.
    """
    written, specs = output(out, repo), repo.folder / SPECS
    if _overlap(written, specs):
        message = f"{written} is in or around {specs}. Name a folder apart from the specs, such as {repo.usual_output}."
        raise typer.BadParameter(message, param_hint="--out")
    # No other platform file may be compiled into the usual folder.
    if repo.platform or not _overlap(written, repo.usual_output):
        _refuse_others_output(written, repo)
    return written


def command(repo: Repository, out: Path) -> str:
    """Return the command that writes the output folder `out` again, as text for a shell: `stowplan synth` or longer.

    It names a platform file with an unusual name. Paths are as the current folder sees them.
    """
    if repo.app:
        return shlex.join(["python", os.path.relpath(repo.folder / repo.app)])
    if not repo.platform:
        return SYNTH
    words = [] if repo.folder == Path() else [str(repo.folder)]
    words += ["--platform", str(repo.folder / repo.platform)]
    words += [] if out == repo.usual_output else ["--out", str(out)]
    return f"{SYNTH} {shlex.join(words)}"


def _refuse_others_output(out: Path, repo: Repository) -> None:
    from stowplan.compiler.output.origin import platform_file_of  # noqa: PLC0415 - start-up time

    before = platform_file_of(out)
    if before and before not in repo.platform_files and (repo.folder / before).is_file():
        message = f"{out} holds the output of the platform file {before}. Name another folder."
        raise typer.BadParameter(message, param_hint="--out")


def _overlap(one: Path, other: Path) -> bool:
    """Whether one of two folders is in the other, or both are the same."""
    first, second = Path(os.path.realpath(one)), Path(os.path.realpath(other))
    return first.is_relative_to(second) or second.is_relative_to(first)
