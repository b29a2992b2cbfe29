"""Download of a commit's files to a directory of a claim."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.copying.keys import KeyCheck
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.in_parts import DownloadInParts
from stowplan.agents.transfer.parts import identities, space_taken, sweep
from stowplan.agents.transfer.remotes.huggingface.fetch import HubFetcher
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.remotes.huggingface.local import has_content
from stowplan.agents.transfer.thread_pool import ThreadPool
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass
class HubDownload:
    """Download of the files of one commit in one attempt."""

    files: Sequence[RemoteFile]
    fetcher: HubFetcher
    tree: Tree
    pool: ThreadPool
    progress: Progress
    stop: Stop
    log: Log
    part_size: int
    wanted: list[RemoteFile] = field(default_factory=list)
    """Files that must be fetched; `compare` sets it."""
    _other: int = 0
    """Number of files that exist in the destination with other content than in the commit."""

    def compare(self, check: KeyCheck) -> None:
        """Compare the commit with the destination, which this does not change, and set `wanted`.

        Raises AttemptError (exit code 5) if a path is invalid below the destination, or if the free space is too small.
        """
        for each in self.files:
            check.look(each.key)
        if check.count:
            raise check.error("Nothing was written")
        self.progress.files_total = len(self.files)
        self.progress.bytes_total = sum(each.size for each in self.files)
        for each in self.files:
            self.stop.check()
            self._compare(each)
        self.pool.drain()
        self.pool.judge()
        self.wanted.sort(key=lambda each: each.key)
        if self._other:
            self.log.info("Some files are other ones than those of the commit: they are replaced", count=self._other)
        self._sweep()
        self._check_space()

    def fetch(self) -> None:
        """Fetch the files in `wanted`. Raises AttemptError if a file cannot be fetched."""
        for each in self.wanted:
            if each.size <= self.part_size:
                self.pool.give(partial(self.fetcher.whole, each))
                continue
            parts = DownloadInParts(self.fetcher, each, self.part_size, self._ended, _is_spoilt)
            for extent in parts.missing:
                self.pool.give(partial(parts.fetch, extent))
            if not parts.missing:
                self.pool.give(parts.end)
        self.pool.end()

    def _compare(self, file: RemoteFile) -> None:
        """Decide whether a file must be fetched. If its content must be read for that, a task does it."""
        status = self.tree.stat(file.key)
        if status is None or not stat.S_ISREG(status.st_mode):
            self.wanted.append(file)
        elif status.st_size != file.size:
            self._replace(file)
        elif self.fetcher.known.is_of(file.key, file.digest, status):
            self._unchanged(file)
        else:
            self.pool.give(partial(self._look_into, file, status))

    def _look_into(self, file: RemoteFile, status: os.stat_result) -> None:
        """Compare the content of a file, as a task: its size is that in the commit, but its content is not recorded."""
        if has_content(self.tree, file.key, file, self.stop.check):
            self.fetcher.known.add(file.key, file.digest, status)
            self._unchanged(file)
        else:
            self._replace(file)

    def _replace(self, file: RemoteFile) -> None:
        self._other += 1
        self.wanted.append(file)

    def _unchanged(self, file: RemoteFile) -> None:
        self.progress.unchanged(file.size)

    def _sweep(self) -> None:
        """Delete incomplete files of earlier attempts that this one cannot continue: other versions, small files."""
        goes_on = {each.identity for each in self.wanted if each.size > self.part_size}
        sweep(self.fetcher.folder, identities(self.fetcher.folder) - goes_on)

    def _check_space(self) -> None:
        free = os.statvfs(self.tree.root.descriptor)
        here = space_taken(self.fetcher.folder)
        wanted, free_bytes = sum(each.size for each in self.wanted), free.f_bavail * free.f_frsize
        # Some network file systems report no size at all.
        if free.f_blocks and wanted > free_bytes + here:
            message = f"{wanted} bytes are to be fetched, but the claim has space for {free_bytes}"
            raise AttemptError(ExitCode.CONFLICT, "NoSpace", message)

    def _ended(self, error: Exception | None) -> None:
        if error is not None:
            raise error


def _is_spoilt(error: Exception) -> bool:
    return isinstance(error, AttemptError) and error.code is ExitCode.INTEGRITY
