"""Engine for copies from one claim to another."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import empty
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.engine import PROTECTED, Engine, TransferWork, key_check
from stowplan.agents.transfer.keys import KeyCheck
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.agents.transfer.thread_pool import Crew
from stowplan.agents.transfer.tree import Found, Tree
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.transfer_config import PvcEndpoint

CHUNK = 1 << 20
"""Bytes that are read at a time."""


def make_engine(settings: TransferSettings) -> Engine:
    """Return the engine. Raises SettingsError if the configuration names no claim to copy from."""
    if not isinstance(settings.remote, PvcEndpoint):
        raise SettingsError("The source of this copy must be a claim")
    return ClaimEngine(settings, settings.remote)


@dataclass(frozen=True)
class ClaimEngine:
    """Copies files and their modification times from `source` to the claim of the settings.

    Owners, permissions, links and devices are not copied. Files that the source lacks stay.
    """

    settings: TransferSettings
    source: PvcEndpoint

    def download(self, work: TransferWork, state: ClaimFolder, completion: Completion) -> str:
        """Copy the files that the sink lacks or has with other content."""
        try:
            with ExitStack() as stack:
                source = stack.enter_context(closing(self._source()))
                sink = stack.enter_context(closing(Tree(self.settings.claim, self.settings.local.path, create=True)))
                parts = stack.enter_context(state.folder("parts", create=True))
                empty(parts)
                _count(source, key_check(state, git=True), work)
                completion.begin()
                crew = stack.enter_context(Crew(self.settings.config.parallelism, work.stop, work.log, of_any))
                Copy(source, sink, parts, work).all(crew)
                sink.root.sync_all()
        except OSError as error:
            raise of_any(error, "the copy") from None
        return "The claim holds every file of the source"

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


@dataclass(frozen=True)
class Copy:
    """Copy of the files of one tree to another in one attempt. `parts` is a folder of the sink for unfinished files."""

    source: Tree
    sink: Tree
    parts: ClaimFolder
    work: TransferWork

    def all(self, crew: Crew) -> None:
        """Copy all files, each in a task of `crew`. Raises AttemptError if one cannot be copied."""
        files = size = 0
        for each in self.source.walk(PROTECTED):
            self.work.stop.check()
            if each.key.endswith("/"):
                self.sink.make_directory(each.key)
            elif not each.other:
                files, size = files + 1, size + each.size
                crew.give(partial(self._file, each))
        crew.end()
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
        if there is None or not stat.S_ISREG(there.st_mode) or there.st_size != found.size:
            return False
        if there.st_mtime_ns == found.modified_ns:
            return True
        with (
            os.fdopen(self.source.reader(found.key), "rb") as one,
            os.fdopen(self.sink.reader(found.key), "rb") as other,
        ):
            return self._digest(one.fileno()) == self._digest(other.fileno())

    def _copy(self, found: Found) -> None:
        """Copy a file to `parts`, read it again to compare it with what was read, and move it to its place."""
        name = hashlib.sha256(found.key.encode()).hexdigest()
        copied = 0
        try:
            with (
                os.fdopen(self.source.reader(found.key), "rb") as source,
                os.fdopen(self.parts.new(name), "r+b") as target,
            ):
                digest = hashlib.sha256()
                for chunk in self._chunks(source.fileno()):
                    digest.update(chunk)
                    target.write(chunk)
                    copied += len(chunk)
                    self.work.progress.add(size=len(chunk))
                target.flush()
                os.fsync(target.fileno())
                self._check(found, os.fstat(source.fileno()), copied)
                self._verify(found, target.fileno(), digest.digest())
                os.utime(target.fileno(), ns=(found.modified_ns, found.modified_ns))
            self.sink.place(name, self.parts, found.key)
        except BaseException:
            self.work.progress.add(size=-copied)
            raise
        self.work.progress.add(files=1)

    def _verify(self, found: Found, target: int, digest: bytes) -> None:
        # What is cached in memory says nothing about the disk.
        os.posix_fadvise(target, 0, 0, os.POSIX_FADV_DONTNEED)
        os.lseek(target, 0, os.SEEK_SET)
        if self._digest(target) != digest:
            message = f"{found.key}: what was written is not what is read again"
            raise AttemptError(ExitCode.INTEGRITY, "WrongDigest", message)

    def _check(self, found: Found, now: os.stat_result, copied: int) -> None:
        """Raise AttemptError (10) if the file has changed since it was listed."""
        if (now.st_size, now.st_mtime_ns) != (found.size, found.modified_ns) or copied != found.size:
            raise AttemptError(ExitCode.TRANSIENT, "Changed", f"{found.key} changed while it was copied")

    def _digest(self, descriptor: int) -> bytes:
        digest = hashlib.sha256()
        for chunk in self._chunks(descriptor):
            digest.update(chunk)
        return digest.digest()

    def _chunks(self, descriptor: int) -> Iterator[bytes]:
        while chunk := os.read(descriptor, CHUNK):
            self.work.stop.check()
            yield chunk


def _count(source: Tree, check: KeyCheck, work: TransferWork) -> None:
    """Add the files and their bytes to the totals of the progress, and check their names.

    Raises AttemptError (exit code 5) if a name is refused; nothing has been copied then.
    """
    for each in source.walk(PROTECTED):
        work.stop.check()
        if each.other:
            work.progress.leave_out("link", each.key)
        elif check.look(each.key) and not each.key.endswith("/"):
            work.progress.files_total += 1
            work.progress.bytes_total += each.size
    if check.count:
        message = f"{check.count} names cannot be used: {'; '.join(check.refused)}. Nothing was copied"
        raise AttemptError(ExitCode.CONFLICT, "UnsafeKeys", message)
    if work.progress.files_left_out:
        work.log.warning("Links and devices are left out", count=work.progress.files_left_out)
