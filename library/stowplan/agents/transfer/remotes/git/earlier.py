"""What earlier syncs have brought to the directory of a dataset, and what of it goes since the source is another one.

A clone goes only if it holds nothing but what its repository has: what people made in it is nowhere else.
"""

import os
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import empty
from stowplan.agents.attempt.failure import SHOWN, AttemptError
from stowplan.agents.copying.keys import PROTECTED
from stowplan.agents.copying.patterns import EVERYTHING
from stowplan.agents.transfer.files.brought import BroughtNames
from stowplan.agents.transfer.files.extra import Extra, Rule
from stowplan.agents.transfer.remotes.git.commit.listing import SUBMODULE
from stowplan.agents.transfer.remotes.git.program.git import Git
from stowplan.agents.transfer.remotes.git.repository import Repository, is_directory
from stowplan.agents.transfer.remotes.git.work_tree import Checkout
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode

_LONGEST_LINK = 4096
"""Maximum bytes of the file that leads from a submodule to its own Git directory."""


class Earlier:
    """What the destination has beside the clone of the present source, by the record of earlier syncs.

    `tree` is the directory around the clones. `removed` is a folder in the state directory, to which clones are moved
    before they are deleted, so that none is ever in its place and half gone. Call `find`, `take_away` if there are
    `changes`, and `finish`. `close` closes `removed`, and not `tree`.
    """

    def __init__(self, git: Git, tree: Tree, removed: ClaimFolder) -> None:
        common, address, work = git.settings.common, git.settings.address, git.work
        self._git, self._tree, self._removed = git, tree, removed
        self._own, self._most = address.directory, common.config.max_delete
        self._brought = BroughtNames.of(common, address.identity)
        self._extra = Extra(tree, self._brought, Rule(None, EVERYTHING, self._most), work.progress, work.stop, work.log)
        self.clones: dict[str, int] = {}
        """Clones of other repositories that will be taken away, with the number of their files, by name."""
        self._is_gone = False

    def close(self) -> None:
        self._extra.close()
        self._removed.close()

    def find(self) -> None:
        """Look through the destination, which this does not change, and count what remains (`files_unknown`).

        Raises AttemptError (5) if somebody has worked in a clone that would be taken away, or if more files would go
        than are allowed: then nothing is fetched either.
        """
        empty(self._removed)
        if self._brought.moved:
            names = [key[:-1] for key in self._brought.known() if key.find("/") == len(key) - 1]
            self.clones = {name: count for name in names if (count := self._files(name)) is not None}
        total = sum(self.clones.values())
        if total > self._most:
            message = (
                f"Clones that earlier syncs have brought from another source have {total} files, but maxDelete is"
                f" {self._most}: none was deleted"
            )
            raise AttemptError(ExitCode.CONFLICT, "TooManyDeletions", message)
        self._brought.prepare([f"{self._own}/"])
        self._extra.find((*PROTECTED, self._own, *self.clones))

    @property
    def changes(self) -> bool:
        """Whether anything is to be taken away."""
        return not self._is_gone and (bool(self.clones) or self._extra.changes)

    def take_away(self) -> None:
        """Record what the destination will have, and take away what it has from another source.

        Call it before the new clone gets its place, since the old one may have it.
        """
        self._brought.begin()
        for name, count in self.clones.items():
            self._tree.root.move(name, self._removed, name)
            self._git.work.progress.files_deleted += count
            where = str(self._tree.where / name)
            self._git.work.log.info("Removed the clone of an earlier source", clone=where, files=count)
        self._tree.root.sync()
        self._extra.delete()
        self._is_gone = True

    def finish(self) -> None:
        """Delete the clones that were taken away, and record that the copy is complete."""
        empty(self._removed)
        self._extra.finish()

    def _files(self, name: str) -> int | None:
        """Return the number of files in a clone of another repository; None if it is none."""
        path = self._tree.where / name
        if not (is_directory(path) and is_directory(path / ".git")):
            return None
        repository = Repository(path, self._git)
        try:
            if self._git.settings.address.is_same(repository.look()):
                return None
            return check(repository)
        except AttemptError as error:
            message = (
                f"{path} is a clone of an earlier source, which has been replaced, and would be removed, but: {error}."
                " Save what is needed of it and undo the changes, or remove the clone"
            )
            raise AttemptError(ExitCode.CONFLICT, error.reason, message) from None


def check(clone: Repository) -> int:
    """Return the number of files in a clone and its submodules, as the index of each has them.

    Raises AttemptError (5) if any of them holds what its repository lacks. Call `clone.look` before.
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
