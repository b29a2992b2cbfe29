"""Download of a commit's files to a directory of a claim."""

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from stowplan.agents.attempt.failure import SHOWN, AttemptError
from stowplan.agents.copying.keys import KeyCheck
from stowplan.agents.copying.patterns import Patterns
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.in_parts import fetch_in_parts
from stowplan.agents.transfer.parts import check_space, identities, sweep
from stowplan.agents.transfer.remotes.huggingface.fetch import HubFetcher
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.thread_pool import ThreadPool
from stowplan.schema.agents.exit_codes import ExitCode


def chosen(found: Iterable[RemoteFile], names: Sequence[str], patterns: Patterns) -> list[RemoteFile]:
    """Return the files in `found` whose path is in `names` (all if that is empty) and that the patterns select.

    Names are taken literally, not as patterns. Raises AttemptError (exit code 4) if `found` lacks one of them; its
    message lists the missing names.
    """
    wanted = [name.strip() for name in names]
    files = [each for each in found if not wanted or each.key in wanted]
    missing = sorted(set(wanted) - {each.key for each in files})
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        message = f"The repository has no {', '.join(map(repr, missing[:SHOWN]))}{more}. Nothing was fetched"
        raise AttemptError(ExitCode.NOT_FOUND, "FilesMissing", message)
    return [each for each in files if patterns.take(each.key)]


@dataclass
class HubDownload:
    """Download of one commit's files, which are sorted by key: call `compare`, then `fetch`, which ends the pool."""

    files: Sequence[RemoteFile]
    fetcher: HubFetcher
    pool: ThreadPool
    part_size: int
    """Size in bytes of the parts of larger files. A file up to this size is fetched in one request."""
    wanted: list[RemoteFile] = field(default_factory=list)
    """Files that must be fetched; `compare` sets it."""
    _other: int = 0
    """Number of files that exist in the destination with other content than in the commit."""

    @property
    def work(self) -> TransferWork:
        return self.fetcher.work

    def compare(self, check: KeyCheck) -> None:
        """Compare the commit with the destination, which this does not change, and set `wanted`.

        Raises AttemptError (exit code 5) if a path is invalid below the destination, or if the free space is too small.
        """
        for each in self.files:
            check.look(each.key)
        if check.count:
            raise check.error("Nothing was written")
        self.work.progress.files_total = len(self.files)
        self.work.progress.bytes_total = sum(each.size for each in self.files)
        for each in self.files:
            self.work.stop.check()
            self._compare(each)
        self.pool.drain()
        self.pool.judge()
        self.wanted.sort(key=lambda each: each.key)
        if self._other:
            self.work.log.info(
                "Some files are other ones than those of the commit: they are replaced", count=self._other
            )
        # What earlier attempts left, and this one cannot go on with: other versions, small files.
        goes_on = {each.identity for each in self.wanted if each.size > self.part_size}
        sweep(self.fetcher.folder, identities(self.fetcher.folder) - goes_on)
        wanted_bytes = sum(each.size for each in self.wanted)
        check_space(self.fetcher.tree.root, self.fetcher.folder, wanted_bytes, len(self.wanted))

    def fetch(self) -> None:
        """Fetch the files in `wanted`. Raises AttemptError if a file cannot be fetched."""
        for each in self.wanted:
            if each.size <= self.part_size:
                self.pool.give(partial(self.fetcher.whole, each))
                continue
            fetch_in_parts(self.fetcher, each, self.part_size, self.pool, _raised)
        self.pool.end()

    def _compare(self, file: RemoteFile) -> None:
        """Decide whether a file must be fetched. If its content must be read for that, a task does it."""
        status = self.fetcher.tree.stat(file.key)
        if status is None or not stat.S_ISREG(status.st_mode):
            self.wanted.append(file)
        elif status.st_size != file.size:
            self._replace(file)
        elif self.fetcher.known.is_of(file.key, file.digest, status):
            self.work.progress.unchanged(file.size)
        else:
            self.pool.give(partial(self._look_into, file, status))

    def _look_into(self, file: RemoteFile, status: os.stat_result) -> None:
        """Compare the content of a file, as a task: its size is that in the commit, but its content is not recorded."""
        if file.is_at(self.fetcher.tree, file.key, self.work.stop.check):
            self.fetcher.known.add(file.key, file.digest, status)
            self.work.progress.unchanged(file.size)
        else:
            self._replace(file)

    def _replace(self, file: RemoteFile) -> None:
        self._other += 1
        self.wanted.append(file)


def _raised(error: Exception | None) -> None:
    if error is not None:
        raise error
