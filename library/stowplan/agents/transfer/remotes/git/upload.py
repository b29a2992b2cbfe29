"""Push of the branch that is checked out in the claim. It never creates commits, and never forces a push."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.git import remote
from stowplan.agents.transfer.remotes.git.lfs.upload import LfsUpload
from stowplan.agents.transfer.remotes.git.program import gitdir
from stowplan.agents.transfer.remotes.git.program.git import Git, GitPlace
from stowplan.agents.transfer.remotes.git.repository import Repository, is_directory
from stowplan.agents.transfer.remotes.git.work_tree import edited_files
from stowplan.schema.agents.exit_codes import ExitCode

_FAILED = re.compile(r"^!\t[^\t]*\t(.*)$", re.MULTILINE)
"""Line about a rejected ref in the output of `git push --porcelain`. The group is the reason."""


@dataclass
class Upload:
    """Push in one attempt. It only reads the repository in the claim, and ignores its configuration."""

    git: Git
    source: Path

    def run(self) -> str:
        """Push and return a sentence about the result."""
        url = self.git.settings.address.url
        repository = self._found()
        branch, commit = self._head(repository)
        self.git.work.outcome.revision = commit
        name = branch.removeprefix("refs/heads/")
        place = self._workshop(repository, branch, commit)
        left = self._uncommitted(repository, place)
        there = remote.branch(self.git, self.git.settings.address, name)
        if there != commit:
            self._check_ancestry(place, name, there, commit)
            if self.git.settings.remote.lfs:
                # Objects go before the branch, so that every visible commit has its content.
                LfsUpload(repository, place, branch, there, commit).run()
            self._push(place, branch, commit)
        done = "was there before" if there == commit else "was pushed"
        rest = f"; {left} files have changes that nobody committed, and were not pushed" if left else ""
        return f"Branch {name} of {url} is at {commit[:12]}, which {done}{rest}"

    def _found(self) -> Repository:
        """Return the repository in the claim. Raises AttemptError if there is none, or if it is unsafe."""
        repository = Repository(self.source, self.git)
        if not os.path.lexists(self.source):
            message = (
                f"{self.source} is not there: the path in the claim is that of the directory around the repository"
            )
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", message)
        whole = is_directory(self.source) and is_directory(repository.directory)
        if not whole:
            message = f"{self.source} is no Git repository of its own"
            raise AttemptError(ExitCode.CONFLICT, "NotARepository", message)
        gitdir.check(repository.directory)
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

    def _workshop(self, repository: Repository, branch: str, commit: str) -> GitPlace:
        """Create a temporary bare repository with this branch at this commit, and return its paths.

        It uses the objects of the repository in the claim, but not its settings.
        """
        place = GitPlace(self.git.folder / "workshop")
        place.directory.mkdir()
        kind = "sha256" if len(commit) == 64 else "sha1"
        self.git.offline(place, "init", "--quiet", "--bare", "--template=", f"--object-format={kind}")
        objects = str((repository.directory / "objects").absolute())
        (place.directory / "objects" / "info" / "alternates").write_text(f"{objects}\n", encoding="utf-8")
        if repository.is_shallow:
            with repository.folder(repository.directory) as folder:
                copied(folder, "shallow", place.directory / "shallow")
        self.git.offline(place, "update-ref", branch, commit)
        self.git.offline(place, "symbolic-ref", "HEAD", branch)
        self.git.offline(place, "config", "remote.origin.url", self.git.settings.address.url)
        return place

    def _uncommitted(self, repository: Repository, place: GitPlace) -> int:
        """Return the number of tracked files with changes that are in no commit, and log their names."""
        copy = self.git.folder / "index"
        with repository.folder(repository.directory) as folder:
            if folder.stat("index") is None:
                return 0
            copied(folder, "index", copy)
            # The second half of a split index lies in the claim.
            for name in folder.names():
                if name.startswith("sharedindex."):
                    copied(folder, name, place.directory / name)
        # The usual filter of Git LFS would store a copy of each edited file.
        asking = (("filter.lfs.clean", "git-lfs pointer --file=%f"),) if self.git.settings.remote.lfs else ()
        index_file = {"GIT_INDEX_FILE": str(copy)}
        own = GitPlace(place.directory, repository.path, index_file, asking, without=("filter.lfs.process",))
        edited = edited_files(self.git, own)
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
        what = f"Pushing to {self.git.settings.address.url}"
        words = (
            "push",
            "--porcelain",
            "--no-verify",
            "--no-signed",
            "--",
            self.git.settings.address.url,
            f"{commit}:{branch}",
        )
        self.git.online(place, *words, what=what, judge=_judge)


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


def copied(folder: ClaimFolder, name: str, target: Path) -> None:
    """Copy a file of the claim, with its times, to a path that does not exist.

    Raises OSError for anything but a regular file, which another writer may have created.
    """
    with os.fdopen(folder.reader(name), "rb") as file:
        status = os.fstat(file.fileno())
        with target.open("xb") as copy:
            shutil.copyfileobj(file, copy)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
