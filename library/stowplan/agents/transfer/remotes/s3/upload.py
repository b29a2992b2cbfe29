"""Upload of a claim's files to a bucket. Other objects of the bucket stay."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.copying.keys import KeyCheck
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.files.source import Source, opened
from stowplan.agents.transfer.files.survey import Survey
from stowplan.agents.transfer.remotes.s3.protocol import multipart
from stowplan.agents.transfer.remotes.s3.protocol.entry import KeyLookup
from stowplan.agents.transfer.remotes.s3.protocol.keeper import Keeper
from stowplan.agents.transfer.remotes.s3.protocol.lists.listing import present
from stowplan.agents.transfer.remotes.s3.protocol.multipart import UnfinishedUpload
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.agents.transfer.remotes.s3.settings import S3Settings
from stowplan.agents.transfer.remotes.s3.source import head
from stowplan.agents.transfer.remotes.s3.upload_file import Sender, UploadInParts
from stowplan.agents.transfer.thread_pool import ThreadPool
from stowplan.agents.transfer.tree import Found, Tree
from stowplan.schema.agents.exit_codes import ExitCode

MOST_BEGUN = 10_000
"""Maximum number of unfinished multipart uploads of earlier attempts that are read from the server."""


@dataclass
class S3Upload:
    """Upload of the files of one claim in one attempt: call `run` once.

    `client` is of the bucket in `settings`; the caller closes it. `work` has the log, the progress and the stop.
    """

    settings: S3Settings
    client: RestClient
    work: TransferWork
    _pool: ThreadPool = field(init=False)
    _begun: dict[str, list[UnfinishedUpload]] = field(default_factory=dict)
    """Unfinished multipart uploads of earlier attempts, by full key."""
    _used: set[str] = field(default_factory=set)
    """Ids of the multipart uploads that this attempt began or continues."""
    _different: list[tuple[Found, str]] = field(default_factory=list)
    """Large files whose content differs from that of an object of the same size in the bucket, with the full key."""

    def run(self) -> None:
        """Upload all files that the bucket lacks or has with other content.

        Raises AttemptError if a file cannot be read or sent.
        """
        common = self.settings.common
        survey = Survey(KeyCheck(folds_case=False), self.work.progress, self.work.stop, holds_folders=False)
        with opened(common) as (tree, found), self.work.pool(common.streams) as self._pool:
            if found:
                files = list(survey.of([found]))
                self._send_all(tree, ((each, self._single_key(each.key)) for each in files), single=True)
                return
            source = Source(tree, common.local.links, self.settings.patterns, lambda _: False)
            # The first walk checks all names, before anything is sent.
            for _ in survey.of(source.walk()):
                pass
            self._send_all(tree, ((each, self._prefix + each.key) for each in source.walk() if each.is_file))

    @property
    def _prefix(self) -> str:
        key = self.settings.key
        return f"{key}/" if key and not key.endswith("/") else key

    def _single_key(self, name: str) -> str:
        return self.settings.key if self.settings.remote.kind == "file" and self.settings.key else self._prefix + name

    def _send_all(self, tree: Tree, files: Iterator[tuple[Found, str]], *, single: bool = False) -> None:
        self._check_bucket()
        sender = Sender(Keeper(self.client, self.work.log), tree, self.work)
        there = KeyLookup(iter(()) if single else present(self.client, self._prefix))
        self._find_begun()
        count = size = 0
        for found, key in files:
            count, size = count + 1, size + found.size
            existing = head(self.client, key)[0] if single else there.at(found.key)
            if existing and existing.size == found.size:
                self._pool.give(partial(self._compare, sender, found, key, existing.etag))
            else:
                self._send(sender, found, key)
        self._pool.drain()
        for found, key in self._different:
            self._send(sender, found, key)
        self._pool.end()
        # The source may have changed since it was counted.
        self.work.progress.files_total, self.work.progress.bytes_total = count, size
        self._abort_orphans()

    def _compare(self, sender: Sender, found: Found, key: str, etag: str) -> None:
        """Compare a file with an object of the same size, as a task. If they differ, send or (if large) note it."""
        size = self.settings.part_size(found.size)
        if sender.is_same(found, etag, size):
            self.work.progress.unchanged(found.size)
        elif found.size <= size:
            sender.whole(found, key)
        else:
            self._different.append((found, key))

    def _send(self, sender: Sender, found: Found, key: str) -> None:
        size = self.settings.part_size(found.size)
        if found.size <= size:
            self._pool.give(partial(sender.whole, found, key))
            return
        begun = max(self._begun.get(key, ()), key=lambda each: each.at, default=None)
        parts = UploadInParts(sender, found, key, size, begun, partial(self._ended, found))
        try:
            numbers = parts.begin()
        except Exception as error:
            self._ended(found, error)
            return
        self._used.add(parts.upload.id)
        for number in numbers:
            self._pool.give(partial(parts.send, number))

    def _ended(self, found: Found, error: Exception | None) -> None:
        if error is None:
            return
        failure = of_any(error, found.key)
        if isinstance(failure, AttemptError):
            self._pool.failed(failure)
        else:
            raise failure

    def _check_bucket(self) -> None:
        if not self.settings.check_bucket:
            return
        name = self.settings.bucket.name
        status = self.client.call("HEAD", accepted=(403, 404)).status_code
        if status == 404 and self.settings.remote.create_bucket:
            self.client.call("PUT", accepted=(409,))
            self.work.log.info("Made the bucket", bucket=name)
        elif status == 404:
            message = f"There is no bucket {name}; it is made only on request, by createBucket"
            raise AttemptError(ExitCode.NOT_FOUND, "NoBucket", message)
        elif status == 403:
            message = f"No access to bucket {name}. If the account may write but not look, say s3-no-check-bucket: true"
            raise AttemptError(ExitCode.AUTH, "AccessDenied", message)

    def _find_begun(self) -> None:
        """Set `_begun` to the unfinished uploads on the server. If the server refuses to list them, it stays empty."""
        try:
            for _, each in zip(range(MOST_BEGUN), multipart.begun(self.client, self._prefix), strict=False):
                self._begun.setdefault(each.key, []).append(each)
        except AttemptError as failure:
            self.work.log.warning("Cannot look for unfinished uploads: large files begin anew", error=str(failure))

    def _abort_orphans(self) -> None:
        for each in (upload for uploads in self._begun.values() for upload in uploads):
            if each.is_orphan and each.id not in self._used:
                self.work.log.info("Aborts an old upload that nobody went on with", key=each.key)
                self.client.call("DELETE", each.key, [("uploadId", each.id)], accepted=(404,))
