"""Options that several commands have, and what is wrong with their values."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from stowplan.compiler.repository import SPECS


class Format(StrEnum):
    """How diagnostics are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


Repo = Annotated[Path, typer.Argument(help="Folder with stowplan.yaml and specs/.", show_default="this folder")]
Out = Annotated[Path | None, typer.Option("--out", help="Output folder.", show_default="REPO/out")]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format", help="How diagnostics are printed: for people, for programs, or as CI services read them."
    ),
]


def folder(repo: Path) -> Path:
    """`repo`, if it is a folder."""
    if not repo.is_dir():
        raise typer.BadParameter(f"{repo} is not a folder.", param_hint="REPO")
    return repo


def apart_from_specs(out: Path, repo: Path) -> Path:
    """`out`, unless what is written there would be read as specs, or removed and written among them."""
    written, read = Path(os.path.realpath(out)), Path(os.path.realpath(repo / SPECS))
    if written.is_relative_to(read) or read.is_relative_to(written):
        message = f"{out} is in or around {repo / SPECS}. Name a folder apart from the specs, such as {repo / 'out'}."
        raise typer.BadParameter(message, param_hint="--out")
    return out
