"""Engine for repositories on a Hugging Face Hub."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from huggingface_hub import HfApi, close_session, set_client_factory

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.copying.closing import closing as said
from stowplan.agents.copying.keys import KeyCheck
from stowplan.agents.copying.patterns import Patterns
from stowplan.agents.transfer.engine import TransferWork, extra, key_check
from stowplan.agents.transfer.files.source import Source, opened
from stowplan.agents.transfer.files.survey import Survey
from stowplan.agents.transfer.network.throttle import Throttle
from stowplan.agents.transfer.remotes.huggingface.commit_files import Outgoing
from stowplan.agents.transfer.remotes.huggingface.download import HubDownload, chosen
from stowplan.agents.transfer.remotes.huggingface.fetch import HubFetcher, Read
from stowplan.agents.transfer.remotes.huggingface.hub import session, xet
from stowplan.agents.transfer.remotes.huggingface.hub.content import HubContent
from stowplan.agents.transfer.remotes.huggingface.hub.failure import Failures
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.remotes.huggingface.hub.repository import Hub
from stowplan.agents.transfer.remotes.huggingface.hub.session import forwarded
from stowplan.agents.transfer.remotes.huggingface.hub.settings import HuggingFaceSettings
from stowplan.agents.transfer.remotes.huggingface.hub.xet import remembered
from stowplan.agents.transfer.remotes.huggingface.known import Known
from stowplan.agents.transfer.remotes.huggingface.upload import HubUpload
from stowplan.agents.transfer.tree import Found, Tree

_NOT_OURS = ".cache/huggingface"
"""Directory that huggingface_hub creates in copies of a repository. As `.git`, the Hub refuses it in an upload."""


@dataclass(frozen=True)
class HuggingFaceEngine:
    """Copies between a claim and a repository on a Hub. Parameters and results are those of the interface `Engine`."""

    settings: HuggingFaceSettings
    scratch: Path
    """Directory for the files of the libraries. It is removed with this object, or at the end of the program."""

    def download(self, work: TransferWork, state: ClaimFolder, completion: Completion) -> str:
        """Download all files of the revision's present commit."""
        common, work = self.settings.common, self._translating(work)
        with _translated(work), ExitStack() as stack:
            hub = stack.enter_context(self._hub(work, lambda _: None))
            commit = hub.commit(self.settings.revision)
            work.outcome.revision = commit
            work.log.info("Everything is taken from one commit", commit=commit, repository=self.settings.address)
            files = chosen(hub.files(commit), self.settings.remote.files, self._patterns)
            read = self._reader(work, hub, commit, files)
            tree = stack.enter_context(closing(Tree(common.claim, common.local.path, create=True)))
            folder = stack.enter_context(state.folder("parts", create=True))
            known = stack.enter_context(closing(Known(state, {each.key: each.digest for each in files})))
            fetcher = HubFetcher(read, tree, folder, known, work)
            pool = stack.enter_context(work.pool(common.streams))
            download = HubDownload(files, fetcher, pool, self.settings.part_size)
            download.compare(key_check(state))
            keys = (each.key for each in files)
            found = stack.enter_context(extra(common, work, tree, self.settings.name, keys, self._patterns))
            with found.around(completion, copies=bool(download.wanted)):
                download.fetch()
            known.finish()
            found.finish()
            work.outcome.revision = None if work.progress.files_unknown else commit
        return f"{said('The destination', work.progress)}; it is at commit {commit[:12]}"

    def upload(self, work: TransferWork, state: ClaimFolder | None) -> str:
        """Commit the files that the repository lacks."""
        sent: list[int] = []
        work = self._translating(work)
        throttle = self._throttle(work)

        def count(size: int) -> None:
            throttle.moved(size)
            sent.append(size)
            work.progress.add(size=size)

        with _translated(work), ExitStack() as stack:
            if state:
                stack.enter_context(remembered(state, self.scratch, work.stop, work.log))
            hub = stack.enter_context(self._hub(work, count))
            tree, single = stack.enter_context(opened(self.settings.common))
            files = self._files(work, tree, single)
            api = HfApi(self.settings.endpoint, token=self.settings.token or False)
            return HubUpload(self.settings, hub, api, tree, files, work, sent).run()

    def _reader(self, work: TransferWork, hub: Hub, commit: str, files: list[RemoteFile]) -> Read:
        """Return the function that reads files: by hf-xet if it may be used and has the file, otherwise by HTTP."""
        content = HubContent(hub, commit)
        wanted = self.settings.xet and any(each.xet for each in files)
        store = xet.connect(hub, commit, self.settings.xet_streams, work.stop) if wanted else None
        if store is None:
            throttle = self._throttle(work)
            return lambda file, start, end: _throttled(content.read(file, start, end), throttle)
        return lambda file, start, end: (store if file.xet else content).read(file, start, end)

    def _files(self, work: TransferWork, tree: Tree, single: Found | None) -> list[Outgoing]:
        """Return the files of a directory in the claim, or a single one, with their paths in the repository.

        Raises AttemptError (exit code 5), before the first request, if a name is invalid in a repository.
        """
        if single:
            return [Outgoing(single, self._single_path(single.key))]
        prefix = self.settings.path_in_repo.rstrip("/")
        prefix = f"{prefix}/" if prefix else ""
        return [Outgoing(each, prefix + each.key) for each in self._found(tree, work)]

    def _single_path(self, name: str) -> str:
        """Return the path in the repository of a single file, by the rule of the Hub's command line.

        A path in the spec that is empty or ends in `/` is a folder; any other path is that of the file.
        """
        path = self.settings.path_in_repo
        return path + name if not path or path.endswith("/") else path

    def _found(self, tree: Tree, work: TransferWork) -> list[Found]:
        """Return the files below a directory of the claim that the patterns select."""
        links = self.settings.common.local.links
        source = Source(tree, links, self._patterns, _is_not_ours)
        survey = Survey(KeyCheck(folds_case=False), work.progress, work.stop, holds_folders=False)
        return list(survey.of(source.walk()))

    def _throttle(self, work: TransferWork) -> Throttle:
        return Throttle(self.settings.common.config.max_bytes_per_second, work.stop)

    @property
    def _patterns(self) -> Patterns:
        return Patterns(self.settings.remote.include, self.settings.remote.exclude)

    @contextmanager
    def _hub(self, work: TransferWork, sent: session.Sent) -> Iterator[Hub]:
        """Yield a client for the repository, and let huggingface_hub use the same kind of connections."""
        connect = partial(session.connect, self.settings, work.stop, sent)
        set_client_factory(connect)
        try:
            with forwarded(work.log), connect() as http:
                yield Hub(self.settings, http, work.attempts)
        finally:
            close_session()

    def _translating(self, work: TransferWork) -> TransferWork:
        return replace(work, translate=Failures(self.settings).of_any)


@contextmanager
def _translated(work: TransferWork) -> Iterator[None]:
    """Translate errors of the block into AttemptError or StoppedError. Unknown exceptions are raised unchanged."""
    try:
        yield
    except Exception as error:
        raise work.translate(error, "the transfer") from None


def _is_not_ours(path: str) -> bool:
    return path == _NOT_OURS or path.rpartition("/")[2] == ".git"


def _throttled(data: Iterator[bytes], throttle: Throttle) -> Iterator[bytes]:
    for each in data:
        throttle.moved(len(each))
        yield each
