"""What Git holds of a folder: its index, which is what the checked-out commit has, or what the next one will have."""

import os
from pathlib import Path
from typing import NamedTuple

from stowplan.compiler.git.work_tree import ask, place, top_of

SUBMODULE, LINK = "160000", "120000"
"""Modes of entries that are no regular files."""


class Held(NamedTuple):
    """An entry of the index: path relative to a folder, empty for itself, mode such as `100644`, and Git object ID."""

    path: str
    mode: str
    blob: str


def held(folder: Path, near: Path) -> list[Held]:
    """Return the entries of the index below `folder` and in its place; none without a work tree.

    If `folder` lies in the work tree around the folder `near`, that is asked first, since it holds a submodule as an
    entry, and the submodule has an index of its own. Raises `GitError`.
    """
    outer, inner = top_of(near), top_of(folder)
    found = _below(outer, folder) if outer and Path(os.path.realpath(folder)).is_relative_to(outer) else []
    return found or (_below(inner, folder) if inner and inner != outer else [])


def _below(top: Path, folder: Path) -> list[Held]:
    own = place(top, folder)
    listed = ask(top, "ls-files", "--stage", "-z", "--full-name", "--", f":(top,literal){own}" if own else ":(top)")
    return [_held(os.fsdecode(line), f"{own}/" if own else "") for line in listed.split(b"\0") if line]


def _held(line: str, prefix: str) -> Held:
    """Return an entry; `line` is one of those that `git ls-files --stage -z` prints."""
    about, _, path = line.partition("\t")
    mode, blob, _ = about.split(" ")
    return Held(f"{path}/".removeprefix(prefix).removesuffix("/"), mode, blob)
