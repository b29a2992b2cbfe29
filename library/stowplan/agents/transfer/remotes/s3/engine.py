"""Engine for S3 stores."""

from contextlib import ExitStack, closing
from dataclasses import dataclass

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.copying.closing import closing as said
from stowplan.agents.transfer.engine import TransferWork, extra, key_check
from stowplan.agents.transfer.remotes.s3.download import S3Download
from stowplan.agents.transfer.remotes.s3.fetch import S3Fetcher
from stowplan.agents.transfer.remotes.s3.journal import Journal
from stowplan.agents.transfer.remotes.s3.protocol.lists.listing import UnsortedError
from stowplan.agents.transfer.remotes.s3.protocol.proof import Prover
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.agents.transfer.remotes.s3.reader import Reader
from stowplan.agents.transfer.remotes.s3.settings import S3Settings
from stowplan.agents.transfer.remotes.s3.source import head, resolve
from stowplan.agents.transfer.remotes.s3.upload import S3Upload
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True)
class S3Engine:
    """Copies between a claim and one bucket. Parameters and results are those of the interface `Engine`."""

    settings: S3Settings

    def download(self, work: TransferWork, state: ClaimFolder, completion: Completion) -> str:
        """Download all objects of the source. The destination changes only after the source was listed completely."""
        with ExitStack() as stack:
            download = self._compared(work, stack, state)
            self._guard_emptiness(download)
            settings, keys = self.settings, (entry.key for entry, _ in download.journal.listing())
            tree = download.fetcher.tree
            found = stack.enter_context(extra(settings.common, work, tree, settings.name, keys, settings.patterns))
            with found.around(completion, copies=download.wanted > 0):
                download.fetch()
            download.journal.finish(download.done)
            found.finish()
            work.outcome.revision = None if work.progress.files_unknown else download.revision
        return said("The destination", work.progress)

    def upload(self, work: TransferWork, state: ClaimFolder | None) -> str:  # noqa: ARG002 - the bucket itself says what it has
        """Upload the files that the bucket lacks."""
        with closing(self._client(work)) as client:
            S3Upload(self.settings, client, work).run()
        return said("The bucket", work.progress)

    def _compared(self, work: TransferWork, stack: ExitStack, state: ClaimFolder) -> S3Download:
        """Return a download after its `compare`."""
        download = self._prepared(work, stack, state)
        try:
            download.compare(key_check(state))
        except UnsortedError as error:
            work.log.warning("The store lists keys in no order: the listing is sorted first", found=str(error))
            work.progress.begin_again()
            download = download.sorting()
            download.compare(key_check(state))
        return download

    def _prepared(self, work: TransferWork, stack: ExitStack, state: ClaimFolder) -> S3Download:
        settings, common = self.settings, self.settings.common
        client = stack.enter_context(closing(self._client(work)))
        source = resolve(client, settings.key, settings.remote.kind, settings.patterns)
        tree = stack.enter_context(closing(Tree(common.claim, common.local.path, create=True)))
        journal = Journal(state)
        journal.fold()
        folder = stack.enter_context(state.folder("parts", create=True))
        prover = Prover(client, source.prefix, work.log, settings.remote.verify_parts)
        reader = Reader(client, source.prefix, prover, work.stop)
        fetcher = S3Fetcher(reader, tree, folder, work, settings.remote.accept_unverified)
        pool = stack.enter_context(work.pool(common.streams))
        return S3Download(source, client, fetcher, journal, pool, settings)

    def _guard_emptiness(self, download: S3Download) -> None:
        mirror, source = self.settings.common.config.mirror, download.source
        if download.listed or (mirror and mirror.allow_empty):
            return
        where = f"s3://{self.settings.bucket.name}/{source.prefix}"
        selected = " that the patterns select" if self.settings.patterns.given else ""
        if mirror:
            message = f"{where} lists nothing{selected}: allowEmpty is needed to delete everything in the destination"
            raise AttemptError(ExitCode.CONFLICT, "EmptySource", message)
        if selected or (source.prefix and head(download.client, source.prefix)[0] is None):
            raise AttemptError(ExitCode.NOT_FOUND, "NotFound", f"There is nothing below {where}{selected}")

    def _client(self, work: TransferWork) -> RestClient:
        config = self.settings.common.config
        return RestClient(self.settings.bucket, work.attempts, work.redact, config.max_bytes_per_second)
