"""Copies into a claim in the process of the test: from another claim, from a store, and from a Hub."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from huggingface_hub import set_client_factory
from huggingface_hub.utils._http import default_client_factory

from stowplan.agents.attempt.failure import AttemptError, of_system
from stowplan.agents.transfer.remotes.huggingface.hub.remote_file import RemoteFile
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from tests.agents.transfer.agent import Cube, Transfer
from tests.agents.transfer.hub_agent import HubCube
from tests.agents.transfer.hub_base import TOKEN
from tests.agents.transfer.hub_server import running
from tests.agents.transfer.server import Storage
from tests.hostile.s3.attempt import attempt
from tests.hostile.s3.server import BUCKET, serving

LARGE = 6 << 20
"""Bytes of a file that is fetched in two parts."""

FILES = {"a": b"a", "sub/b": b"b" * 3000, "sub/large": b"0123456789abcdef" * (LARGE // 16)}
MODIFIED = 1_767_225_600
"""Of all objects of the store."""


@dataclass(frozen=True)
class OfClaim(Transfer):
    """From a folder that stands for another claim."""

    folder: Path
    options: dict[str, Any] = field(default_factory=dict)

    def variables(self) -> dict[str, str]:
        return {}

    @property
    def source(self) -> Path:
        return self.folder / "source"

    def remote(self) -> dict[str, Any]:
        return {"type": "pvc", "claim": "source", "mountPath": str(self.source), "path": "data"}


@dataclass(frozen=True)
class Copy:
    """A copy of `FILES`; each call is an attempt."""

    cube: Transfer
    remote: dict[str, Any]
    parts: tuple[str, ...]
    """Names in the folder for incomplete files that the copy uses."""
    journals: tuple[str, ...] = ()
    """Names of files in the state directory."""
    more: tuple[Path, ...] = ()
    """Further files and folders that it uses."""
    renew: Callable[[], None] = lambda: None
    """Puts the files where they are copied from, if that is a folder."""
    sent: Callable[[], Iterable[bytes]] = tuple
    """The files that the remote side has."""

    @property
    def places(self) -> list[Path]:
        """All files and folders that it uses."""
        data, state = self.cube.data, self.cube.state
        parts = (state / "parts" / each for each in self.parts)
        own = (state / each for each in ("parts", *self.journals, "stowplan-probe", "complete.json"))
        return [*own, *parts, data, *(data / each for each in ("sub", *FILES)), state, state.parent, *self.more]

    def download(self) -> str | AttemptError:
        """To the claim. Gives what was done, or why not."""
        return self._attempt(self.remote, self.cube.local())

    def upload(self) -> str | AttemptError:
        """From the claim. Gives what was done, or why not."""
        return self._attempt(self.cube.local(), self.remote)

    def _attempt(self, source: dict[str, Any], sink: dict[str, Any]) -> str | AttemptError:
        try:
            return attempt(self.cube, source, sink)
        except OSError as error:
            # As the agent's program says it.
            return of_system(error, "the transfer")

    def fill(self) -> None:
        """Put the files into the claim."""
        write(self.cube.data)

    @property
    def copied(self) -> dict[str, bytes]:
        return {key: (self.cube.data / key).read_bytes() for key in FILES if (self.cube.data / key).is_file()}


def write(folder: Path) -> None:
    for key, data in FILES.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(data)


@contextmanager
def of_claim(folder: Path) -> Iterator[Copy]:
    cube = OfClaim(folder)

    def renew() -> None:
        write(cube.source / "data")

    renew()
    parts = tuple(hashlib.sha256(key.encode()).hexdigest() for key in FILES)
    sources = tuple(cube.source / "data" / each for each in ("", "sub", *FILES))
    yield Copy(cube, cube.remote(), parts, more=sources, renew=renew)


@contextmanager
def of_store(folder: Path) -> Iterator[Copy]:
    with serving() as server:
        server.objects |= FILES
        found = [S3Object(key, len(data), server.etag(key), MODIFIED).identity for key, data in FILES.items()]
        cube = Cube(folder, Storage(server.url, BUCKET), options={"requestRetries": 0})
        names = tuple(f"{name}.jsonl{end}" for name in ("known", "listing") for end in ("", ".tmp"))
        old = ("known.tmp", "listing.tmp", "progress.tmp")
        yield Copy(
            cube,
            cube.remote(),
            _parts(found),
            (*names, *old, "progress.json", "progress.json.tmp"),
            sent=server.objects.values,
        )


@contextmanager
def of_hub(folder: Path) -> Iterator[Copy]:
    (folder / "hub").mkdir()
    with running(folder / "hub") as hub:
        repository = hub.store.make("owner/name", writers={TOKEN})
        hub.store.put(repository, FILES)
        entries = repository.files()
        found = [
            RemoteFile(key, each.size, each.sha256 if each.lfs else None, each.oid).identity
            for key, each in ((key, entries[key]) for key in FILES)
        ]
        cube = HubCube(folder, hub, repository, options={"requestRetries": 0})
        try:
            journals = ("files.jsonl", "files.jsonl.tmp")
            yield Copy(cube, cube.remote(), _parts(found), journals, sent=lambda: hub.store.read(repository).values())
        finally:
            # The library has only one kind of connections, and other tests use it too.
            set_client_factory(default_client_factory)


def _parts(identities: list[str]) -> tuple[str, ...]:
    *small, large = identities
    return (*(f"{each}.whole" for each in small), *(f"{large}.{end}" for end in ("part", "parts", "parts.tmp")))


COPIES: dict[str, Callable[[Path], AbstractContextManager[Copy]]] = {
    "claim": of_claim,
    "store": of_store,
    "hub": of_hub,
}
