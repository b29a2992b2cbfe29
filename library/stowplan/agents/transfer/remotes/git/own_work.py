"""Work of people in a clone, which nothing but the clone has: edits, further files, and commits."""

import os
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git.commit.listing import SHOWN, SUBMODULE
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.agents.transfer.remotes.git.work_tree import Checkout
from stowplan.schema.agents.exit_codes import ExitCode

_LONGEST_LINK = 4096
"""Maximum bytes of the file that leads from a submodule to its own Git directory."""


def check(clone: Repository) -> int:
    """Return the number of files in a clone and its submodules, as the index of each has them.

    Raises AttemptError (5) if any of them holds what its repository lacks. The clone must have been looked at.
    """
    left, count = [clone], 0
    while left:
        repository = left.pop()
        Checkout(repository).guard()
        _check_commits(repository)
        _check_files(repository)
        files, submodules = _tracked(repository)
        count += files
        left += [inner for path in submodules if (inner := _submodule(repository, path))]
    return count


def _check_commits(repository: Repository) -> None:
    """Raise AttemptError (5) for commits of any branch, and of the stash, that no fetched branch and no tag has."""
    words = ("--all", "--not", "--remotes", "--tags", "--glob=refs/stowplan/*")
    found = repository.git.offline(repository.place, "rev-list", "--max-count=1", *words).decode().strip()
    if found:
        message = f"{repository.path} has commits of its own, such as {found[:12]}"
        raise AttemptError(ExitCode.CONFLICT, "LocalCommits", message)


def _check_files(repository: Repository) -> None:
    """Raise AttemptError (5) for files that no commit has. Those that `.gitignore` names may be results of somebody."""
    count, names = 0, list[str]()
    for record in repository.git.records(repository.place, "ls-files", "--others", "-z"):
        count += 1
        if len(names) < SHOWN:
            names.append(os.fsdecode(record))
    if count:
        message = f"{count} files of {repository.path} are in no commit: {', '.join(map(repr, names))}"
        raise AttemptError(ExitCode.CONFLICT, "Untracked", message)


def _tracked(repository: Repository) -> tuple[int, list[str]]:
    """Return the number of files in the index of Git, and the paths of submodules."""
    count, submodules = 0, list[str]()
    for record in repository.git.records(repository.place, "ls-files", "--stage", "-z"):
        fields, _, raw = record.partition(b"\t")
        if fields.startswith(SUBMODULE):
            submodules.append(os.fsdecode(raw))
        else:
            count += 1
    return count, submodules


def _submodule(outer: Repository, path: str) -> Repository | None:
    """Return the repository of a submodule; None if nothing is there. Raises AttemptError (5) if it is another one."""
    place = outer.path / path
    try:
        with outer.folder(place) as folder:
            if not folder.entries(1):
                return None
            link = os.fsdecode(folder.read(".git", _LONGEST_LINK) or b"").removeprefix("gitdir: ").strip()
    except FileNotFoundError:
        return None
    directory = Path(os.path.normpath(place / link))
    if not link or not directory.is_relative_to(outer.directory / "modules"):
        message = f"{place} has files, and is no submodule that a sync has brought"
        raise AttemptError(ExitCode.CONFLICT, "Untracked", message)
    found = Repository(place, outer.git, directory)
    found.look()
    return found
