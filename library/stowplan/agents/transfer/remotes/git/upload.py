"""Push of the branch that is checked out in the claim. It never creates commits, and never forces a push."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git import edits, left_out, remote
from stowplan.agents.transfer.remotes.git.lfs.upload import LfsUpload
from stowplan.agents.transfer.remotes.git.program.git import Git, GitPlace
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.schema.agents.exit_codes import ExitCode

_FAILED = re.compile(r"^!\t[^\t]*\t(.*)$", re.MULTILINE)
"""Line about a rejected ref in the output of `git push --porcelain`. The group is the reason."""


@dataclass
class GitUpload:
    """Push in one attempt. It only reads the repository in the claim, and ignores its configuration."""

    git: Git
    source: Path
    """Absolute path of the repository's work tree."""

    def run(self) -> str:
        """Push and return a sentence about the result. Raises AttemptError: 5 if the server has commits of others."""
        url = self.git.settings.address.url
        repository = self._found()
        branch, commit = self._head(repository)
        self.git.work.outcome.revision = commit
        name = branch.removeprefix("refs/heads/")
        left = self._uncommitted(repository)
        there = remote.branch(self.git, self.git.settings.address, name)
        if there != commit:
            self._check_ancestry(repository.place, name, there, commit)
            content = LfsUpload(repository, branch, there, commit)
            if self.git.settings.remote.lfs:
                # Objects go before the branch, so that every visible commit has its content.
                content.run()
            else:
                content.leave_out()
            self._push(repository.place, branch, commit)
        done = "was there before" if there == commit else "was pushed"
        rest = f"; {left} files have changes that nobody committed, and were not pushed" if left else ""
        rest += left_out.tell(self.git.work.progress, self.git.work.log, lfs=self.git.settings.remote.lfs)
        return f"Branch {name} of {url} is at {commit[:12]}, which {done}{rest}"

    def _found(self) -> Repository:
        """Return the repository in the claim. Raises AttemptError if there is none, or if it is unsafe."""
        repository = Repository(self.source, self.git)
        if not os.path.lexists(self.source):
            message = (
                f"{self.source} is not there: the path in the claim is that of the directory around the repository"
            )
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", message)
        repository.look()
        return repository

    def _head(self, repository: Repository) -> tuple[str, str]:
        """Return the checked-out branch as `refs/heads/…` and its commit. Raises AttemptError (5) without either."""
        branch, commit = repository.branch(), repository.commit("HEAD")
        if branch is None or not branch.startswith("refs/heads/"):
            where = f"at {commit[:12]}" if commit else "nowhere"
            message = f"{self.source} is on no branch, but {where}: check out the branch that is to be pushed"
            raise AttemptError(ExitCode.CONFLICT, "DetachedHead", message)
        if commit is None:
            message = (
                f"Branch {branch.removeprefix('refs/heads/')} of {self.source} has no commit: nothing can be pushed"
            )
            raise AttemptError(ExitCode.CONFLICT, "NothingCommitted", message)
        return branch, commit

    def _uncommitted(self, repository: Repository) -> int:
        """Return the number of tracked files with changes that are in no commit, and log their names."""
        if not (repository.private.path / "index").exists():
            return 0
        edited = edits.find(repository, refresh=False).edited
        if edited:
            shown = ", ".join(edited[:10])
            self.git.work.log.warning("Files with changes that nobody committed", count=len(edited), files=shown)
        return len(edited)

    def _check_ancestry(self, place: GitPlace, name: str, there: str | None, commit: str) -> None:
        """Raise AttemptError (5) if `commit` lacks commits of the branch on the server, which is at `there`.

        `there` is None if the server does not have the branch.
        """
        if there is None:
            return
        if self.git.tried(place, "merge-base", "--is-ancestor", there, commit).code:
            message = (
                f"Branch {name} of {self.git.settings.address.url} is at {there[:12]}, which {self.source} at"
                f" {commit[:12]} does not contain: merge it first, since nothing is ever pushed over what others pushed"
            )
            raise AttemptError(ExitCode.CONFLICT, "NonFastForward", message)

    def _push(self, place: GitPlace, branch: str, commit: str) -> None:
        url = self.git.settings.address.url
        words = ("push", "--porcelain", "--no-verify", "--no-signed", "--", url, f"{commit}:{branch}")
        self.git.online(place, *words, what=f"Pushing to {url}", judge=_judge)


def _judge(output: str) -> AttemptError | None:
    """Return the failure for the output of `git push`; None if it names no rejected ref."""
    found = _FAILED.search(output)
    if found is None:
        return None
    why = found[1]
    if re.search(r"non-fast-forward|fetch first|stale info|cannot lock ref|failed to update ref", why):
        message = f"Others pushed meanwhile ({why}): merge first, since nothing is ever pushed over what others pushed"
        return AttemptError(ExitCode.CONFLICT, "NonFastForward", message)
    return AttemptError(ExitCode.CONFLICT, "Refused", f"The server refuses the branch: {why}")
