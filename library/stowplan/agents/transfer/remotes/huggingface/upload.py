"""Upload of a claim's files to a branch of a repository. Other files of the repository stay."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from huggingface_hub import CommitOperationAdd, HfApi, constants

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.interruption import interruptible
from stowplan.agents.copying.closing import closing
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.remotes.huggingface.commit_files import Outgoing, batches, opened
from stowplan.agents.transfer.remotes.huggingface.hub.failure import Failures, MovedError
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.remotes.huggingface.hub.repository import MAIN, Hub
from stowplan.agents.transfer.remotes.huggingface.hub.settings import HuggingFaceSettings
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode

T = TypeVar("T")

ROUNDS = 5
"""Maximum number of times that the upload starts again, because the branch moved or an answer was lost."""

LARGE = 50_000_000_000
"""Size in bytes above which the log warns that the Hub may refuse a file. The Hub's real limit is not fixed."""

MOST = 5_000
"""Maximum number of files in one commit: the Hub is slow for more."""


@dataclass
class HubUpload:
    """Upload of files to one branch in one attempt: call `run` once. The caller closes `tree` and `hub.http`."""

    settings: HuggingFaceSettings
    hub: Hub
    api: HfApi
    tree: Tree
    files: list[Outgoing]
    work: TransferWork
    sent: list[int]
    """Sizes in bytes of the chunks that were sent to a storage since `_send` last emptied this list."""
    _commits: int = 0
    _done: set[str] = field(default_factory=set)
    """Paths in the repository of files that the progress already counts as done."""

    def run(self) -> str:
        """Upload, if need be to a new private repository; return a sentence about the result. Raises AttemptError."""
        self.work.progress.files_total = len(self.files)
        self.work.progress.bytes_total = sum(each.found.size for each in self.files)
        if large := [each.path for each in self.files if each.found.size > LARGE]:
            self.work.log.warning("Some files may be too large for the Hub", count=len(large), first=large[0])
        self._head()
        if not (self.settings.xet and self.hub.xet_connection("write", self.settings.revision or MAIN)):
            # The library reads this at each call. Without Xet it uses the storage of Git LFS.
            constants.HF_HUB_DISABLE_XET = True
        for left in range(ROUNDS, -1, -1):
            self.work.stop.check()
            try:
                return self._once()
            except MovedError as error:
                if not left:
                    raise AttemptError(ExitCode.TRANSIENT, "Moved", f"Others commit again and again: {error}") from None
                self.work.log.warning("Others have committed meanwhile: comparing once more", error=str(error))
            except AttemptError as failure:
                # The commit may exist although its answer was lost, so only a comparison can tell.
                if not left or failure.reason != "CommitFailed":
                    raise
                self.work.log.warning("Comparing once more", error=str(failure))
                self.work.stop.sleep(1)
        raise AssertionError("a loop of at least one round")

    def _once(self) -> str:
        head = self._head()
        self.work.outcome.revision = head
        pending = self._compare(head)
        if not pending:
            return f"{closing('The repository', self.work.progress)}; it is at commit {head[:12]}"
        waiting: list[CommitOperationAdd] = []
        held = 0
        for batch in batches(pending, self.settings.held_bytes):
            ready = self._send(batch)
            size = sum(len(each.path_or_fileobj) for each in ready if isinstance(each.path_or_fileobj, bytes))
            if waiting and (held + size > self.settings.held_bytes or len(waiting) + len(ready) > MOST):
                head = self._commit(head, waiting)
                waiting, held = [], 0
            waiting += ready
            held += size
        head = self._commit(head, waiting)
        return f"{closing('The repository', self.work.progress)}; it is at commit {head[:12]}"

    def _head(self) -> str:
        """Return the present commit of the branch. A repository that does not exist is created first, as private."""
        try:
            return self.hub.commit(self.settings.revision or MAIN)
        except AttemptError as failure:
            if failure.reason != "RepositoryNotFound" or self.settings.token is None:
                raise
        if self.settings.remote.repo_type == "space":
            message = f"{self.settings.address} is not there: make the Space first, since only you know its SDK"
            raise AttemptError(ExitCode.NOT_FOUND, "RepositoryNotFound", message)
        settings = self.settings
        create = partial(
            self.api.create_repo, settings.repo, repo_type=settings.remote.repo_type, private=True, exist_ok=False
        )
        try:
            self._call("making the repository", create)
        except AttemptError as failure:
            if failure.reason != "Conflict":
                raise
            message = f"{settings.address} is there, but the token may not see it"
            raise AttemptError(ExitCode.AUTH, "AccessDenied", message) from None
        self.work.log.info("Made a private repository", repository=settings.address)
        return self.hub.commit(self.settings.revision or MAIN)

    def _compare(self, head: str) -> list[Outgoing]:
        """Return the files that the commit `head` lacks or has with other content, sorted by path."""
        there = {each.key: each for each in self.hub.files(head, self._folder)}
        pending: list[Outgoing] = []
        with self.work.pool(self.settings.common.streams) as pool:
            for each in self.files:
                remote = there.get(each.path)
                if remote is None or remote.size != each.found.size:
                    pending.append(each)
                else:
                    pool.give(partial(self._look_into, each, remote, pending))
            pool.end()
        pending.sort(key=lambda each: each.path)
        return pending

    @property
    def _folder(self) -> str:
        """Return the folder of the repository whose files are compared; empty for the whole repository."""
        return self.settings.path_in_repo.rstrip("/") if len({each.path for each in self.files}) > 1 else ""

    def _look_into(self, file: Outgoing, remote: RemoteFile, pending: list[Outgoing]) -> None:
        """Compare a file with one of the same size in the repository, as a task; add it to `pending` if they differ."""
        if not remote.is_at(self.tree, file.found.real, self.work.stop.check):
            pending.append(file)
        elif file.path not in self._done:
            self._done.add(file.path)
            self.work.progress.unchanged(file.found.size)

    def _send(self, batch: list[Outgoing]) -> list[CommitOperationAdd]:
        """Send large files to the storage, and return all files as operations for the commit that will name them."""

        def once() -> list[CommitOperationAdd]:
            with opened(self.tree, batch) as operations:
                self.api.preupload_lfs_files(
                    self.settings.repo,
                    operations,
                    repo_type=self.settings.remote.repo_type,
                    revision=self.settings.revision or MAIN,
                    num_threads=self.settings.common.streams,
                    free_memory=True,
                    # The spec asks for all files, including those that `.gitignore` names.
                    gitignore_content="",
                )
            return operations

        ready = self._call(f"{len(batch)} files from {batch[0].path} on", once, many=True)
        new = [each for each in batch if each.path not in self._done]
        sent, self.sent[:] = sum(self.sent), []
        self._done |= {each.path for each in batch}
        self.work.progress.add(files=len(new), size=sum(each.found.size for each in new) - sent)
        return ready

    def _commit(self, head: str, operations: list[CommitOperationAdd]) -> str:
        """Create a commit with these files whose parent is `head`, and return its name."""
        message = self.settings.message if self._commits == 0 else f"{self.settings.message} (part {self._commits + 1})"
        commit = partial(
            self.api.create_commit,
            self.settings.repo,
            operations,
            commit_message=message,
            repo_type=self.settings.remote.repo_type,
            revision=self.settings.revision or MAIN,
            parent_commit=head,
        )
        try:
            made = self._call("the commit", commit)
        except AttemptError as failure:
            if isinstance(failure, MovedError) or failure.code is not ExitCode.TRANSIENT:
                raise
            raise AttemptError(ExitCode.TRANSIENT, "CommitFailed", str(failure)) from None
        self._commits += 1
        self.work.outcome.revision = made.oid
        self.work.log.info("Committed", commit=made.oid, files=len(operations))
        return str(made.oid)

    def _call(self, what: str, call: Callable[[], T], *, many: bool = False) -> T:
        """Return the result of a call of huggingface_hub; its errors are translated, with a message about `what`.

        With `many` the call is repeated after failures that may pass. The library also repeats many requests by itself.
        """

        def once() -> T:
            try:
                return interruptible(self.work.stop, call)
            except Exception as error:
                raise Failures(self.settings).of_library(error, what) from None

        return self.work.attempts.run(what, once) if many else once()
