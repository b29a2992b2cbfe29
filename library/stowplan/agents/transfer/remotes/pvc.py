"""Engine for copies from one claim to another."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import empty
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.copying.closing import closing as said
from stowplan.agents.copying.newness import Stamp
from stowplan.agents.copying.patterns import EVERYTHING
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.engine import Engine, TransferWork, extra, key_check
from stowplan.agents.transfer.files.draft import Draft
from stowplan.agents.transfer.files.source import Source
from stowplan.agents.transfer.files.survey import Survey
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.agents.transfer.thread_pool import ThreadPool
from stowplan.agents.transfer.tree import BLOCK, Found, Tree, blocks, sha256
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.transfer_config import PvcEndpoint

_HOLE = 4096
"""Size in bytes of the smallest hole that is kept, the block of most file systems."""

_ZEROS = bytes(_HOLE)


def make_engine(settings: TransferSettings) -> Engine:
    """Return the engine. Raises SettingsError if the configuration names no claim to copy from."""
    if not isinstance(settings.remote, PvcEndpoint):
        raise SettingsError("The source of this copy must be a claim")
    return ClaimEngine(settings, settings.remote)


@dataclass(frozen=True)
class ClaimEngine:
    """Copies files with their modification times, permissions and holes from `source` to the claim of the settings.

    Owners are not copied. Files that the source lacks stay. Parameters and results are those of the interface `Engine`.
    """

    settings: TransferSettings
    source: PvcEndpoint

    def download(self, work: TransferWork, state: ClaimFolder, completion: Completion) -> str:
        """Copy the files that the sink lacks or has with other content."""
        try:
            with ExitStack() as stack:
                tree = stack.enter_context(closing(self._source()))
                sink = stack.enter_context(closing(Tree(self.settings.claim, self.settings.local.path, create=True)))
                parts = stack.enter_context(state.folder("parts", create=True))
                empty(parts)
                source = Source(tree, self.source.links, EVERYTHING, lambda _: False)
                survey = Survey(key_check(state, git=True), work.progress, work.stop, holds_folders=True)
                # The first walk checks all names, before anything is copied.
                keys = _seen(sink, survey.of(source.walk()))
                name = f"pvc {self.source.claim} {self.source.path}"
                found = stack.enter_context(extra(self.settings, work, sink, name, keys, EVERYTHING))
                with found.around(completion, copies=True):
                    pool = stack.enter_context(work.pool(self.settings.config.parallelism))
                    Copy(source, sink, parts, work).all(pool)
                found.finish()
        except OSError as error:
            raise of_any(error, "the copy") from None
        return said("The claim", work.progress)

    def upload(self, work: TransferWork, state: ClaimFolder | None) -> str:
        """Raise NotImplementedError: the sink of a copy between claims is written to as in a download."""
        raise NotImplementedError

    def _source(self) -> Tree:
        mount = Path(self.source.mount_path).absolute()
        try:
            return Tree(mount, self.source.path, create=False)
        except FileNotFoundError:
            message = f"{mount / self.source.path} is not there: is the claim mounted, and its data complete?"
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", message) from None


def _seen(sink: Tree, files: Iterable[Found]) -> Iterator[str]:
    """Yield the keys, and look for each in the sink, which then knows whether something else is in its place."""
    for each in files:
        sink.stat(each.key)
        yield each.key


@dataclass(frozen=True)
class Copy:
    """Copy of the files of one source to another tree in one attempt.

    `parts` is a folder of the sink's claim for unfinished files. The caller closes the folders.
    """

    source: Source
    sink: Tree
    parts: ClaimFolder
    work: TransferWork

    def all(self, pool: ThreadPool) -> None:
        """Copy all files, each in a task of `pool`, and end the pool. Raises AttemptError if one cannot be copied."""
        files = size = 0
        for each in self.source.walk():
            self.work.stop.check()
            if each.is_file:
                files, size = files + 1, size + each.size
                pool.give(partial(self._file, each))
            elif each.is_folder:
                self.sink.make_directory(each.key)
        pool.end()
        # The source may have changed since it was counted.
        self.work.progress.files_total, self.work.progress.bytes_total = files, size

    def _file(self, found: Found) -> None:
        try:
            if self._is_there(found):
                self.work.progress.unchanged(found.size)
            else:
                self._copy(found)
        except OSError as error:
            raise of_any(error, found.key) from None

    def _is_there(self, found: Found) -> bool:
        """Return whether the sink has the file: of equal size, and of equal time or equal content.

        File systems round times, so another time does not mean other content.
        """
        there = self.sink.stat(found.key)
        stamp = Stamp.of(there)
        if stamp is None or stamp.size != found.size:
            return False
        if Stamp(found.size, found.modified_ns).agrees(stamp):
            return True
        check = self.work.stop.check
        return self.source.tree.sha256(found.real, check) == self.sink.sha256(found.key, check)

    def _copy(self, found: Found) -> None:
        """Copy a file to `parts`, read it again to compare it with what was read, and move it to its place."""
        name = hashlib.sha256(found.key.encode()).hexdigest()
        copied = 0
        try:
            with (
                os.fdopen(self.source.tree.reader(found.real), "rb") as source,
                Draft.new(self.parts, name) as draft,
            ):
                digest, now = hashlib.sha256(), os.fstat(source.fileno())
                step = BLOCK if now.st_blocks * 512 >= now.st_size else _HOLE
                for chunk in blocks(source.fileno(), self.work.stop.check):
                    digest.update(chunk)
                    for start in range(0, len(chunk), step):
                        piece = chunk[start : start + step]
                        # A hole is read as zeros, and remains one.
                        if step == BLOCK or piece != _ZEROS[: len(piece)]:
                            draft.write(piece, copied + start)
                    copied += len(chunk)
                    self.work.progress.add(size=len(chunk))
                draft.resize(copied)
                self._check(found, os.fstat(source.fileno()), copied)
                draft.finish(found.key, found.size, found.modified_ns)
                self._verify(found, draft.descriptor, digest.hexdigest())
                draft.permit(found.mode)
                draft.place(self.sink, found.key)
        except BaseException:
            self.work.progress.add(size=-copied)
            raise
        self.work.progress.add(files=1)

    def _verify(self, found: Found, target: int, digest: str) -> None:
        # What is cached in memory says nothing about the disk.
        os.posix_fadvise(target, 0, 0, os.POSIX_FADV_DONTNEED)
        if sha256(target, self.work.stop.check) != digest:
            message = f"{found.key}: what was written is not what is read again"
            raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message)

    def _check(self, found: Found, now: os.stat_result, copied: int) -> None:
        """Raise AttemptError (10) if the file has changed since it was listed."""
        if (now.st_size, now.st_mtime_ns) != (found.size, found.modified_ns) or copied != found.size:
            raise AttemptError(ExitCode.TRANSIENT, "Changed", f"{found.key} changed while it was copied")
