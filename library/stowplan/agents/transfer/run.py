"""One attempt, from the lock to the marker."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.log import Log
from stowplan.agents.transfer.attempts import Attempts
from stowplan.agents.transfer.completion import Completion
from stowplan.agents.transfer.crew import Crew
from stowplan.agents.transfer.download import Download
from stowplan.agents.transfer.failure import TransferError, of_any
from stowplan.agents.transfer.fetch import Fetcher
from stowplan.agents.transfer.keys import KeyCheck, folds_case
from stowplan.agents.transfer.ledger import Ledger
from stowplan.agents.transfer.lock import held
from stowplan.agents.transfer.mirror import Deletion
from stowplan.agents.transfer.progress import Progress
from stowplan.agents.transfer.safe_files import sync_all
from stowplan.agents.transfer.settings import Settings
from stowplan.agents.transfer.source import head, resolve
from stowplan.agents.transfer.stop import Stop
from stowplan.agents.transfer.tree import Tree
from stowplan.agents.transfer.upload import Upload
from stowplan.agents.transfer.wire import Wire
from stowplan.schema.exit_codes import ExitCode
from stowplan.schema.marker import STATE_DIRECTORY

PROTECTED = (STATE_DIRECTORY, "lost+found", ".snapshot")
"""Names at the top of a claim that are nobody's data."""

_PROBE = "stowplan-probe"


@dataclass(frozen=True)
class Run:
    """Everything that an attempt needs."""

    told: Settings
    progress: Progress
    stop: Stop
    log: Log

    def all(self) -> str:
        """Copies; gives a sentence of what was done. TransferError or StoppedError else."""
        if not self.told.claim.is_dir():
            raise TransferError(ExitCode.NOT_FOUND, "NoClaim", f"{self.told.claim} is not there: is the claim mounted?")
        state = self.told.config.state
        if state is None:
            return self._upload()
        claim, directory = self.told.claim, state.directory
        for each in (directory, str(Path(state.lock).parent)):
            # Also makes sure that no link leads out of the claim.
            Tree(claim, each, create=True).close()
        completion = Completion(claim, claim / directory, self.told.run)
        if completion.is_done():
            return "This run was complete before: nothing to do"
        with held(claim / state.lock, self.told.run or "stowplan-transfer", self.stop, self.log):
            try:
                if self.told.upload:
                    completion.begin()
                text = self._upload() if self.told.upload else self._download(claim / directory, completion)
            except Exception as error:
                failure = of_any(error, "the transfer")
                if isinstance(failure, TransferError):
                    completion.end(failure.code, {})
                raise failure from None
            completion.end(ExitCode.DONE, dict(self.progress.snapshot().fields()))
        return text

    def _download(self, directory: Path, completion: Completion) -> str:
        with ExitStack() as stack:
            download = self._prepared(stack, directory)
            download.compare(self._key_check(directory))
            self._guard_emptiness(download)
            if download.wanted or self.told.config.mirror:
                completion.begin()
            download.fetch()
            if self.told.config.mirror:
                deletion = Deletion(download.tree, download.ledger, PROTECTED, self.progress, self.stop, self.log)
                deletion.run(self.told.config.mirror)
            sync_all(download.tree.root)
            download.ledger.finish(download.done)
        return "The destination holds everything that the source lists"

    def _prepared(self, stack: ExitStack, directory: Path) -> Download:
        told = self.told
        wire = stack.enter_context(self._wire())
        source = resolve(wire, told.key, told.remote.kind)
        tree = stack.enter_context(closing(Tree(told.claim, told.local.path, create=True)))
        ledger = Ledger(directory)
        ledger.fold()
        folder = directory / "parts"
        folder.mkdir(exist_ok=True)
        store, attempts = told.bucket.store(), self._attempts
        fetcher = Fetcher(store, wire, source.prefix, tree, folder, attempts, self.progress, self.log)
        stack.callback(fetcher.close)
        crew = stack.enter_context(Crew(told.streams, self.stop, self.log))
        return Download(source, wire, fetcher, tree, ledger, crew, self.progress, self.stop, self.log, told.part_size)

    def _guard_emptiness(self, download: Download) -> None:
        mirror, source = self.told.config.mirror, download.source
        if download.listed or (mirror and mirror.allow_empty):
            return
        where = f"s3://{self.told.bucket.name}/{source.prefix}"
        if mirror:
            message = f"{where} lists nothing: allowEmpty is needed to delete everything in the destination"
            raise TransferError(ExitCode.CONFLICT, "EmptySource", message)
        if source.prefix and head(download.wire, source.prefix)[0] is None:
            raise TransferError(ExitCode.NOT_FOUND, "NotFound", f"There is nothing below {where}")

    def _key_check(self, directory: Path) -> KeyCheck:
        probe = directory / _PROBE
        probe.touch()
        folds = folds_case(lambda name: (directory / name).exists(), _PROBE)
        probe.unlink()
        return KeyCheck(folds, reserved=PROTECTED)

    def _upload(self) -> str:
        with self._wire() as wire:
            store, attempts = self.told.bucket.store(), self._attempts
            upload = Upload(self.told, wire, store, attempts, self.progress, self.log)
            upload.run(Crew(self.told.upload_streams, self.stop, self.log), PROTECTED)
        return "The bucket holds every file of the source"

    @property
    def _attempts(self) -> Attempts:
        return Attempts(self.told.config.request_retries, self.stop, self.log)

    @contextmanager
    def _wire(self) -> Iterator[Wire]:
        wire = Wire(self.told.bucket, self._attempts, self.told.config.parallelism + 2)
        try:
            yield wire
        finally:
            wire.close()
