"""Options of several commands, and checks of their values."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stowplan.compiler.repository.layout import PLATFORM_FILES, SPECS


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
Out = Annotated[Path | None, typer.Option("--out", help="Output folder.", show_default="REPO/out")]
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


def apart_from_specs(out: Path, repo: Path) -> Path:
    """Return `out` unchanged. Raises `BadParameter` if it is inside the folder of the specs or contains that folder."""
    written, read = Path(os.path.realpath(out)), Path(os.path.realpath(repo / SPECS))
    if written.is_relative_to(read) or read.is_relative_to(written):
        message = f"{out} is in or around {repo / SPECS}. Name a folder apart from the specs, such as {repo / 'out'}."
        raise typer.BadParameter(message, param_hint="--out")
    return out
