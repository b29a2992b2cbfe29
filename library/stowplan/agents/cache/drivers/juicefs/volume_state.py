"""Access to the state directory of a volume without a mount: each call is a `juicefs sync` of small files."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from stowplan.agents.attempt import safe_files
from stowplan.agents.attempt.claim.folder import ClaimFolder
from stowplan.agents.attempt.claim.walk import by_name, walk
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.child import Child
from stowplan.agents.cache.drivers.juicefs.listing.record import FOLDER
from stowplan.agents.cache.drivers.juicefs.verdict import checked
from stowplan.schema.agents.marker import STATE_DIRECTORY

SECONDS = 20.0
LAST_SECONDS = 2.0
"""Maximum seconds of a call, and of a call after the attempt was asked to stop."""

LARGEST = 64 << 10
"""Maximum size in bytes of a file that is read. Marker files and lock flags have less than one thousand bytes."""

_TEMPORARY = ".jfs."


@dataclass(frozen=True)
class VolumeState:
    """Access to the marker files and lock flags of a volume that is not mounted (interface `StateDirectory`).

    Every call starts a new process of JuiceFS, so nothing is cached between calls.
    """

    child: Child
    address: str
    """Address `jfs://NAME/directory/` of the dataset in the volume.

    The child's environment variable NAME holds the address of the metadata engine.
    """

    def read(self) -> Mapping[str, bytes]:
        with _folder() as folder:
            self._sync(
                self._url,
                f"file://{folder}/",
                "--exclude=/warmup/***",
                f"--exclude=/{FOLDER}***",
                f"--max-size={LARGEST >> 10}K",
            )
            with ClaimFolder.at(folder) as read:
                files = [each for each in walk(read, by_name) if each.entry.is_file]
            names = [each.path for each in files if not each.entry.name.startswith(_TEMPORARY)]
            found = {name: safe_files.read(folder, name, LARGEST) for name in names}
            return {path: content for path, content in found.items() if content is not None}

    def fetch(self, name: str, largest: int) -> bytes | None:
        parent = name.rpartition("/")[0]
        with _folder() as folder:
            chosen = (*([f"--include=/{parent}/"] if parent else []), f"--include=/{name}", "--exclude=*")
            self._sync(self._url, f"file://{folder}/", *chosen, f"--max-size={(largest >> 10) + 1}K")
            return safe_files.read(folder, name, largest)

    def write(self, files: Mapping[str, bytes]) -> None:
        with _folder() as folder:
            for name, content in files.items():
                path = folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            self._sync(f"file://{folder}/", self._url, "--force-update")

    def remove(self, names: Iterable[str]) -> None:
        # Names of Jobs and flags contain no wildcards.
        chosen = [f"--include=/{name}" for name in names]
        folders = sorted({f"--include={each.removeprefix('--include=').rpartition('/')[0]}/" for each in chosen})
        if not chosen:
            return
        with _folder() as folder:
            includes = [each for each in folders if each != "--include=/"]
            self._sync(f"file://{folder}/", self._url, "--delete-dst", *includes, *chosen, "--exclude=*")

    @property
    def _url(self) -> str:
        return f"{self.address}{STATE_DIRECTORY}/"

    def _sync(self, source: str, destination: str, *flags: str) -> None:
        over = self.child.stop.is_set()
        # After the stop, a short call may still clean up.
        child = replace(self.child, stop=Stop()) if over else self.child
        words = ("sync", "--metrics=127.0.0.1:0", *flags, source, destination)
        checked(child.run(*words, seconds=LAST_SECONDS if over else SECONDS), "the state directory of the volume")


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="stowplan-") as name:
        yield Path(name)
