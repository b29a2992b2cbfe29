"""Download of one repository to a directory of the claim. A new clone appears atomically."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import sync_directory
from stowplan.agents.transfer.remotes.git.checkout_commit import Bringing
from stowplan.agents.transfer.remotes.git.program.git import Git
from stowplan.agents.transfer.remotes.git.remote import find
from stowplan.agents.transfer.remotes.git.repository import Repository, is_directory
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass
class Download:
    """Download in one attempt. A new clone is built in the directory `hidden`, then moved to `destination`."""

    git: Git
    destination: Path
    hidden: Path
    """Directory for an incomplete clone, inside the state directory of this transfer."""
    completion: Completion

    def run(self) -> str:
        """Download and return a sentence about the result."""
        settings = self.git.settings
        if is_directory(self.destination) and not any(self.destination.iterdir()):
            self.destination.rmdir()
        fresh = not os.path.lexists(self.destination)
        repository = Repository(self.hidden if fresh else self.destination, self.git)
        if not fresh:
            repository.check(settings.address)
            repository.clear_locks()
        wanted = find(self.git, settings.address, settings.ref)
        if wanted is None:
            return self._empty(repository, fresh=fresh)
        self.git.work.outcome.revision = wanted.commit or None
        before = None if fresh else repository.commit("HEAD")
        if fresh:
            self._begin(repository, len(wanted.object or wanted.name))
        bringing = Bringing(repository, settings.address, None if fresh else self.completion)
        wanted, commit = bringing.run(wanted, settings.ref, fresh=fresh)
        if fresh:
            self._publish()
        if before == commit:
            return f"The destination is at {commit[:12]}, of {wanted}, as it was before"
        return (
            f"The destination is at {commit[:12]}, of {wanted}{f'; before it was at {before[:12]}' if before else ''}"
        )

    def _begin(self, repository: Repository, length: int) -> None:
        """Prepare the hidden directory: continue a killed attempt's clone of the same origin, or create an empty one.

        `length` is the length of commit names on the server.
        """
        if (repository.directory / "HEAD").exists():
            try:
                repository.check(self.git.settings.address)
            except AttemptError:
                shutil.rmtree(self.hidden)
            else:
                repository.clear_locks()
                self.git.work.log.info("Goes on with a clone that an earlier attempt began")
                return
        elif self.hidden.exists():
            shutil.rmtree(self.hidden)
        repository.make(self.git.settings.address, length=40 if length < 40 else length)

    def _publish(self) -> None:
        """Move the complete clone from the hidden directory to the destination."""
        self.completion.begin()
        self.hidden.rename(self.destination)
        sync_directory(self.destination.parent)
        sync_directory(self.hidden.parent)

    def _empty(self, repository: Repository, *, fresh: bool) -> str:
        """Handle a repository without commits on the server, and return a sentence about the result.

        Creates an empty clone if `fresh`. Raises AttemptError (5) if the existing clone has commits.
        """
        if fresh:
            shutil.rmtree(self.hidden, ignore_errors=True)
            repository.make(self.git.settings.address, length=40)
            self._publish()
        elif repository.commit("HEAD"):
            message = (
                f"{self.git.settings.address.url} is empty, but {self.destination} has commits: nothing was changed"
            )
            raise AttemptError(ExitCode.CONFLICT, "EmptySource", message)
        return f"{self.git.settings.address.url} is empty: there is no commit yet, and so no file"
