"""The Git work tree around a folder, and questions about its repository."""

import os
from pathlib import Path

from stowplan.compiler.git import program


class GitError(Exception):
    """Git does not answer a question; the message of the exception is a sentence for the user."""


def top_of(folder: Path) -> Path | None:
    """Return the nearest folder above `folder`, or itself, with an entry `.git`, links resolved; None without one."""
    real = Path(os.path.realpath(folder))
    return next((each for each in (real, *real.parents) if os.path.lexists(each / ".git")), None)


def around(folder: Path, near: Path) -> Path:
    """Return the top of the work tree that `folder`, which need not exist, lies in. Raises `GitError` without one.

    It is that around the folder `near` where `folder` is below it: a submodule in between is what its author made it.
    Git is only asked there: it would take a folder whose files look like a repository for one.
    """
    outer = top_of(near)
    top = outer if outer and Path(os.path.realpath(folder)).is_relative_to(outer) else top_of(folder)
    if top is None:
        raise GitError(f"{folder} is not a git repository, and lies in none.")
    return top


def place(top: Path, folder: Path) -> str:
    """Return the path of `folder`, in the work tree `top`, in its repository; empty for the top. Raises `GitError`."""
    inside = os.fsdecode(ask(top, "rev-parse", "--show-prefix").removesuffix(b"\n"))
    rest = Path(os.path.realpath(folder)).relative_to(top).as_posix()
    return "/".join(part for part in (inside.rstrip("/"), "" if rest == "." else rest) if part)


def ask(top: Path, *arguments: str, given: bytes = b"") -> bytes:
    """Return what a Git command, which reads `given`, prints in the work tree `top`. Raises `GitError` if it fails."""
    try:
        done = program.run("-C", str(top), *arguments, given=given)
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror}.") from None
    if done.returncode:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitError(lines[-1] if lines else f"git {' '.join(arguments)} failed.")
    return done.stdout
