"""What Git holds of a folder: its index, which is what the checked-out commit has, or what the next one will have."""

import os
from pathlib import Path
from typing import NamedTuple

from stowplan.compiler.git.work_tree import ask, place, top_of

SUBMODULE, LINK = "160000", "120000"
"""Modes of entries that are no regular files."""


class Held(NamedTuple):
    """An entry of the index: its path relative to a folder, empty for the folder itself, its mode and Git object ID."""

    path: str
    mode: str
    blob: str


def held(folder: Path, near: Path) -> list[Held]:
    """Return the entries of the index below `folder` and in its place; none without a work tree.

    It is the index of the work tree around the folder `near`, if `folder` lies in that: a submodule has another one.
    Raises `GitError`.
    """
    real = Path(os.path.realpath(folder))
    top = top_of(near)
    if top is None or not real.is_relative_to(top):
        top = top_of(folder)
    if top is None:
        return []
    own = place(top, folder)
    listed = ask(top, "ls-files", "--stage", "-z", "--full-name", "--", f":(top,literal){own}" if own else ":(top)")
    return [_held(os.fsdecode(line), f"{own}/" if own else "") for line in listed.split(b"\0") if line]


def _held(line: str, prefix: str) -> Held:
    """Return an entry; `line` is one of those that `git ls-files --stage -z` prints."""
    about, _, path = line.partition("\t")
    mode, blob, _ = about.split(" ")
    return Held(f"{path}/".removeprefix(prefix).removesuffix("/"), mode, blob)
