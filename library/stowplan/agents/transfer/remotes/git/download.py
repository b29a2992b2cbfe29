"""Download of one repository to a directory of the claim. A new clone appears atomically."""

import errno
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import remove
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.copying.closing import changes
from stowplan.agents.transfer.remotes.git import left_out
from stowplan.agents.transfer.remotes.git.checkout_commit import CommitCheckout
from stowplan.agents.transfer.remotes.git.earlier import Earlier
from stowplan.agents.transfer.remotes.git.program.git import Git
from stowplan.agents.transfer.remotes.git.remote import find
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass
class GitDownload:
    """Download in one attempt. A new clone is built in the directory `hidden`, then moved to `destination`."""

    git: Git
    around: ClaimFolder
    """Directory around the clone."""
    clones: ClaimFolder
    """Directory for an incomplete clone, inside the state directory of this transfer."""
    completion: Completion
    earlier: Earlier | None
    """What earlier syncs have brought; None for a copy that fills no dataset, which leaves everything else as it is."""

    @property
    def destination(self) -> Path:
        return Path(self.around.where, self._name)

    @property
    def hidden(self) -> Path:
        return Path(self.clones.where, self._name)

    @property
    def _name(self) -> str:
        return self.git.settings.address.directory

    def run(self) -> str:
        """Download and return a sentence about the result. Raises AttemptError, StoppedError and OSError."""
        work = self.git.work
        try:
            self.around.remove_folder(self._name)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ENOTEMPTY, errno.EEXIST):
                raise
        if self.earlier:
            self.earlier.find()
        text = self._brought()
        if self.earlier:
            if self.earlier.changes:
                self.completion.begin()
                self.earlier.take_away()
            self.earlier.finish()
            work.outcome.revision = None if work.progress.files_unknown else work.outcome.revision
        return "; ".join((text, *changes(work.progress)))

    def _brought(self) -> str:
        """Bring the commit, and return a sentence about it."""
        settings = self.git.settings
        fresh = self.around.stat(self._name) is None or (self.earlier is not None and self._name in self.earlier.clones)
        repository = Repository(self.hidden if fresh else self.destination, self.git)
        if not fresh:
            repository.adopt(settings.address)
        wanted = find(self.git, settings.address, settings.ref)
        if wanted is None:
            return self._empty(repository, fresh=fresh)
        self.git.work.outcome.revision = wanted.commit or None
        before = None if fresh else repository.commit("HEAD")
        if fresh:
            self._begin(repository, len(wanted.object or wanted.name))
        bringing = CommitCheckout(repository, settings.address, None if fresh else self.completion)
        wanted, commit = bringing.run(wanted, settings.ref, fresh=fresh)
        if fresh:
            self._publish()
        rest = left_out.tell(self.git.work.progress, self.git.work.log, lfs=settings.remote.lfs)
        if before == commit:
            return f"The destination is at {commit[:12]}, of {wanted}, as it was before{rest}"
        change = f"; before it was at {before[:12]}" if before else ""
        return f"The destination is at {commit[:12]}, of {wanted}{change}{rest}"

    def _begin(self, repository: Repository, length: int) -> None:
        """Prepare the hidden directory: continue a killed attempt's clone of the same origin, or create an empty one.

        `length` is the length of commit names on the server.
        """
        if (repository.directory / "HEAD").exists():
            with suppress(AttemptError):
                repository.adopt(self.git.settings.address)
                self.git.work.log.info("Goes on with a clone that an earlier attempt began")
                return
        remove(self.clones, self._name)
        repository.make(self.git.settings.address, length=40 if length < 40 else length)

    def _publish(self) -> None:
        """Move the complete clone from the hidden directory to the destination."""
        self.completion.begin()
        if self.earlier:
            self.earlier.take_away()
        self.clones.move(self._name, self.around, self._name)
        self.around.sync()
        self.clones.sync()

    def _empty(self, repository: Repository, *, fresh: bool) -> str:
        """Handle a repository without commits on the server, and return a sentence about the result.

        Creates an empty clone if `fresh`. Raises AttemptError (5) if the existing clone has commits, or if
        something from an earlier source would be taken away for it.
        """
        if self.earlier and self.earlier.changes:
            message = f"{self.git.settings.address.url} is empty: what an earlier source has brought was not removed"
            raise AttemptError(ExitCode.CONFLICT, "EmptySource", message)
        if fresh:
            remove(self.clones, self._name)
            repository.make(self.git.settings.address, length=40)
            self._publish()
        elif repository.commit("HEAD"):
            message = (
                f"{self.git.settings.address.url} is empty, but {self.destination} has commits: nothing was changed"
            )
            raise AttemptError(ExitCode.CONFLICT, "EmptySource", message)
        return f"{self.git.settings.address.url} is empty: there is no commit yet, and so no file"
