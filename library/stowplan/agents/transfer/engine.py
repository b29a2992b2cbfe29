"""Interface of a transfer engine: the code for one kind of remote side (S3, Hugging Face, Git or another claim)."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Protocol, cast

from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.completion import Completion
from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.progress import Progress
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.copying.keys import PROTECTED, KeyCheck
from stowplan.agents.copying.patterns import Patterns
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.files.brought import BroughtNames
from stowplan.agents.transfer.files.extra import Extra, Rule
from stowplan.agents.transfer.network.retry import Attempts, Translate
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.agents.transfer.thread_pool import ThreadPool
from stowplan.agents.transfer.tree import Tree
from stowplan.schema.agents.transfer_config import PvcEndpoint, TransferConfig
from stowplan.schema.kinds.table import DATASET_KINDS, TASK_FIELDS
from stowplan.schema.remotes.remote import RemoteEndpoint


@dataclass(frozen=True)
class TransferWork:
    """Objects that an engine needs in addition to its settings: result, stop request, log, redactor and retries."""

    outcome: AttemptOutcome
    stop: Stop
    log: Log
    redact: Redactor
    """Function that hides secrets in a string.

    All output is redacted anyway, but a string that is shortened before may hold only half of a secret, which is not
    found later. So the engine redacts such strings first.
    """
    retries: int
    """Number of times that one request is sent again."""
    translate: Translate = of_any

    @property
    def progress(self) -> Progress:
        return self.outcome.progress

    @cached_property
    def attempts(self) -> Attempts:
        """Rule for sending requests again."""
        return Attempts(self.retries, self.stop, self.log, self.translate, self.tell)

    def pool(self, size: int) -> ThreadPool:
        """Return a pool of `size` threads. Use it in a `with` statement, and call its `end` at the end of the block."""
        return ThreadPool(size, self.stop, self.log, self.translate)

    def tell(self, failure: AttemptError | None) -> None:
        """Let the status say that requests fail and are sent again; None if they succeed."""
        self.outcome.trouble = (failure.reason, self.redact(str(failure))) if failure else None


_PROBE = "stowplan-probe"


def key_check(state: ClaimFolder, *, git: bool = False) -> KeyCheck:
    """Return the check of keys for a copy to a claim: it refuses names in `PROTECTED`, and `.git` unless `git` is true.

    `state` is the transfer's own directory in the same claim. A file is made and removed there, to see whether the
    claim folds case. Raises OSError.
    """
    os.close(state.new(_PROBE))
    folds = state.stat(_PROBE.upper()) is not None
    state.remove_file(_PROBE)
    return KeyCheck(folds, reserved=PROTECTED, git=git)


def syncs(config: TransferConfig) -> bool:
    """Return whether a download fills a dataset, so that it takes away what came from an earlier source.

    A copy from a claim is a backup, and a DataCube says itself whether it deletes.
    """
    return config.target.kind in (*DATASET_KINDS, *TASK_FIELDS) and not isinstance(config.source, PvcEndpoint)


@contextmanager
def extra(  # noqa: PLR0917 - what a copy knows of its two sides
    settings: TransferSettings, work: TransferWork, tree: Tree, source: str, listed: Iterable[str], patterns: Patterns
) -> Iterator[Extra]:
    """Look through the destination `tree`, and yield what it has and the source lacks. The block copies.

    In the block, copy in `around` of what is yielded, and call its `finish` then. `source` is a string that differs for
    each source, so that another one is noticed; `listed` are its keys in ascending order. With `mirror` only what
    `patterns` select is deleted. Raises AttemptError (5) if more files would be deleted than are allowed.
    """
    config = settings.config
    brought = BroughtNames.of(settings, source)
    rule = Rule(config.mirror, patterns, config.max_delete if syncs(config) else None)
    with closing(Extra(tree, brought, rule, work.progress, work.stop, work.log)) as found:
        brought.prepare(listed)
        found.find(PROTECTED)
        yield found


class Engine(Protocol):
    """Copies between a directory of a claim and one remote side. Methods may raise AttemptError and StoppedError.

    An example is `stowplan.agents.transfer.remotes.toy`::

        '''Transfers with toy stores.'''


        class ToyEngine:
            def __init__(self, settings):
                self.settings = settings

            def download(self, work, state, completion):
                completion.begin()
                return f"Nothing is on shelf {self.settings.config.source.shelf}"

            def upload(self, work, state):
                return f"Shelf {self.settings.config.sink.shelf} is full"


        def make_engine(settings):
            return ToyEngine(settings)
    """

    def download(self, work: TransferWork, state: ClaimFolder, completion: Completion) -> str:
        """Copy from the remote side to the claim, and return a sentence about the result.

        `state` is the directory in the claim where this transfer stores its state; the caller closes it. The engine
        calls `completion.begin()` before the first change of the destination. At the end all fetched data must be
        durable, and `work.progress` must count each file and byte as done, or the attempt fails.
        """

    def upload(self, work: TransferWork, state: ClaimFolder | None) -> str:
        """Copy from the claim to the remote side, and return a sentence about the result.

        `state` is as for `download`; None if the claim is read-only or the transfer has no state directory.
        """


def engine(settings: TransferSettings) -> Engine:
    """Return the engine for the remote side. Raises SettingsError if a setting or a package is missing or invalid.

    The module or package of a remote has the remote's name, and a function `make_engine`. Only its libraries are
    imported, which saves time and memory.
    """
    remote = import_module(f"stowplan.agents.transfer.remotes.{settings.remote.type}")
    try:
        return cast("Engine", remote.make_engine(settings))
    except ModuleNotFoundError as error:
        extra = settings.remote.EXTRA if isinstance(settings.remote, RemoteEndpoint) else "all"
        message = (
            f"The package {error.name} is not installed: install Stowplan with its extra `{extra}`, "
            f"as `pip install '.[{extra}]'` does in a checkout of Stowplan"
        )
        raise SettingsError(message) from None
