"""Upload of the Git LFS objects that the new commits of a branch reference, before the push of the branch."""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.remotes.git.commit.listing import contents_of
from stowplan.agents.transfer.remotes.git.lfs.answers import Action
from stowplan.agents.transfer.remotes.git.lfs.objects import each_of, server_url
from stowplan.agents.transfer.remotes.git.lfs.server import LfsServer
from stowplan.agents.transfer.remotes.git.program.git import Git
from stowplan.agents.transfer.remotes.git.program.lfs_pointer import POINTER_LIMIT, object_key, pointer_of
from stowplan.agents.transfer.remotes.git.repository import Repository
from stowplan.agents.transfer.tree import blocks, sha256
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass
class LfsUpload:
    """Upload of the Git LFS objects of the commits from `since` (exclusive) to `commit` on `branch`.

    `branch` is as `refs/heads/…`, the other two are names of commits. `since` is None if the server does not have the
    branch.
    """

    repository: Repository
    branch: str
    since: str | None
    commit: str

    @property
    def _git(self) -> Git:
        return self.repository.git

    def run(self) -> None:
        """Upload the objects that the server lacks. Raises AttemptError if the claim lacks one, or it is damaged."""
        objects = self._objects()
        if not objects:
            return
        url = server_url(self._git, self.repository.place, self._git.settings.address, self.commit)
        with closing(LfsServer(self._git, url, os.environ)) as server:
            each_of(server, "upload", objects, self.branch, partial(self._object, server))

    def leave_out(self) -> None:
        """Count all of these objects as left out. Call it instead of `run` if their content is not to be uploaded."""
        for oid in sorted(self._objects()):
            self._git.work.progress.leave_out("pointer", oid)

    def _objects(self) -> dict[str, int]:
        """Return the sizes in bytes, by digest, of all Git LFS objects that the new commits reference."""
        since = (f"^{self.since}",) if self.since else ()
        small = ("--filter=object:type=blob", f"--filter=blob:limit={POINTER_LIMIT}", "--filter-provided-objects")
        words = ("rev-list", "--objects", "--no-object-names", *small, self.commit, *since)
        names = map(bytes.decode, self._git.offline(self.repository.place, *words).split())
        texts = contents_of(self.repository, names)
        return {pointer.oid: pointer.size for _, text in texts if (pointer := pointer_of(text))}

    def _object(self, server: LfsServer, oid: str, size: int, actions: Mapping[str, Action]) -> None:
        """Upload one object. If there is no action for that, the server already has it."""
        if "upload" not in actions:
            return
        with self._opened(oid) as file:
            content = _Content(file.fileno(), oid, size, self._git.work)
            content.verify()
            with server.asking("PUT", _typed(actions["upload"]), f"Object {oid} of Git LFS", content, size):
                pass
        if verify := actions.get("verify"):
            self._verify(server, verify, oid, size)

    def _opened(self, oid: str) -> BinaryIO:
        """Open the object without following a link, which another writer of the claim may have created."""
        try:
            with closing(self.repository.tree(self.repository.directory / "lfs/objects", create=False)) as tree:
                return os.fdopen(tree.reader(object_key(oid)), "rb")
        except OSError as error:
            message = f"The content of files that are to be pushed is not in the claim: object {oid} of Git LFS"
            raise AttemptError(ExitCode.CONFLICT, "LfsMissing", f"{message} ({error.strerror})") from None

    def _verify(self, server: LfsServer, action: Action, oid: str, size: int) -> None:
        """Ask the server to check an object that was uploaded."""
        body = b'{"oid":"%b","size":%d}' % (oid.encode("ascii"), size)
        headers = {"accept": "application/vnd.git-lfs+json", "content-type": "application/vnd.git-lfs+json"}
        asked = Action(action.href, {**headers, **action.headers}, chunked=False)
        with server.asking("POST", asked, f"The check of object {oid} of Git LFS", [body], len(body)):
            pass


@dataclass
class _Content:
    """Content of an open file as the body of a request. Each iteration starts at the beginning of the file."""

    descriptor: int
    oid: str
    size: int
    work: TransferWork

    def verify(self) -> None:
        """Raise AttemptError (5) unless it is a regular file with this size and SHA-256. No other file may be sent."""
        status = os.fstat(self.descriptor)
        good = stat.S_ISREG(status.st_mode) and status.st_size == self.size
        if not good or sha256(self.descriptor, self.work.stop.check) != self.oid:
            message = f"Object {self.oid} of Git LFS in the claim is not what its name says, so nothing was pushed"
            raise AttemptError(ExitCode.CONFLICT, "LfsMissing", message)

    def __iter__(self) -> Iterator[bytes]:
        for block in blocks(self.descriptor, self.work.stop.check, 0, self.size):
            yield block
            self.work.progress.add(size=len(block))


def _typed(action: Action) -> Action:
    """Return the action with a content type, which storages require, unless the server already named one."""
    return Action(action.href, {"content-type": "application/octet-stream", **action.headers}, action.chunked)
