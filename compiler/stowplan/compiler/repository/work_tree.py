"""The Git work tree around a repository: where its output lies in it, and which other platform files it has."""

import os
import re
from pathlib import Path
from typing import NamedTuple

from stowplan.compiler.diagnostics.locations import PLATFORM_FILES
from stowplan.compiler.git.work_tree import GitError, ask, top_of
from stowplan.compiler.repository.layout import Repository


class Around(NamedTuple):
    """What the work tree has around a repository.

    `place` is the path of the output folder in the work tree, "." for its top; empty without a work tree. `others` are
    the paths of the other platform files with a usual name that Git knows there, sorted; None if nobody asked for them.
    """

    place: str = ""
    others: tuple[str, ...] | None = None


def around(repo: Repository, out: Path, *, others: bool) -> Around:
    """Return what is around `repo` and its output folder `out`; other platform files only with `others`."""
    top = top_of(out)
    place = Path(os.path.realpath(out)).relative_to(top).as_posix() if top else ""
    return Around(place, _others(repo) if others else None)


def _others(repo: Repository) -> tuple[str, ...]:
    """Return the platform files in Git's index that are not that of `repo`; none if Git cannot be asked.

    Only those with a usual name are found, since any file may be one that `--platform` names.

    A file below a hidden folder, such as the workflow `.github/workflows/stowplan.yaml`, belongs to another program.
    """
    top = top_of(repo.folder)
    if top is None:
        return ()
    patterns = [f":(top,glob)**/{name}" for name in PLATFORM_FILES]
    home = Path(os.path.realpath(repo.folder)).relative_to(top)
    own = {home / name for name in repo.platform_files}
    found = [Path(each) for each in _listed(top, "ls-files", "-z", "--", *patterns)]
    shown = [each for each in found if not any(part.startswith(".") for part in each.parts)]
    return tuple(sorted(each.as_posix() for each in shown if each not in own))


def remote_name(top: Path) -> str:
    """Return the name of the remote repository of the work tree `top`, the last part of its URL; empty without one.

    Of several remotes, `origin` counts, else the first.
    """
    found = dict(
        each.split("\n", 1) for each in _listed(top, "config", "--local", "-z", "--get-regexp", r"^remote\..*\.url$")
    )
    url = found.get("remote.origin.url", next(iter(found.values()), ""))
    return re.split(r"[/:\\]", url.rstrip("/\\"))[-1].removesuffix(".git")


def _listed(top: Path, *command: str) -> list[str]:
    """Return the entries, ended by null characters, that a Git command prints for a work tree; none if it fails."""
    try:
        return [os.fsdecode(each) for each in ask(top, *command).split(b"\0") if each]
    except GitError:
        return []
