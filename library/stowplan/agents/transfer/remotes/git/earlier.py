"""What earlier syncs have brought to the directory of a dataset, and what of it goes since the source is another one.

A clone goes only if it holds nothing but what its repository has: what people made in it is nowhere else.
"""

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import empty
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.copying.keys import PROTECTED
from stowplan.agents.copying.patterns import EVERYTHING
from stowplan.agents.transfer.files.brought import BroughtNames
from stowplan.agents.transfer.files.extra import Extra, Rule
from stowplan.agents.transfer.remotes.git.own_work import check
from stowplan.agents.transfer.remotes.git.program.git import Git
from stowplan.agents.transfer.remotes.git.repository import Repository, is_directory
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode


class Earlier:
    """What the destination has beside the clone of the present source, by the record of earlier syncs.

    `removed` is a folder in the state directory, to which clones are moved before they are deleted, so that none is
    ever in its place and half gone.
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
