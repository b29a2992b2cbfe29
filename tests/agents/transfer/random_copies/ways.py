"""Sources that change at random, and what their destinations hold, by programs that share no code with the agents."""

import hashlib
import os
import random
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import obstore

from tests.agents.transfer.agent import Cube
from tests.agents.transfer.server import Storage

Sums = Mapping[str, str]
"""SHA-256 of each file, by its name."""

STATE = ".stowplan/"


def sums(folder: Path) -> Sums:
    """The files below a folder, by `find` and `sha256sum`; links are followed."""
    if not folder.is_dir():
        return {}
    command = "find -L . -type f -print0 | xargs -0 -r sha256sum -z"
    output = subprocess.run(["sh", "-c", command], cwd=folder, check=True, capture_output=True).stdout
    lines = [each.partition("  ./") for each in os.fsdecode(output).split("\0") if each]
    return {name: digest for digest, _, name in lines if not name.startswith(STATE)}


def objects(storage: Storage, prefix: str) -> Sums:
    """The objects below a prefix, by a client that others wrote."""
    store = storage.store
    keys = [each["path"] for each in obstore.list(store, prefix or None).collect()]
    found = {key: obstore.get(store, key).bytes().to_bytes() for key in keys}
    return {key.removeprefix(prefix): hashlib.sha256(data).hexdigest() for key, data in found.items()}


class Way(Protocol):
    """One way of copying."""

    def put(self, name: str, data: bytes) -> None:
        """Write a file of the source."""

    def remove(self, name: str) -> None:
        """Remove a file of the source."""

    def move(self) -> None:
        """Let the source be another one."""

    @property
    def sides(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Source and sink of the configuration."""

    def source(self) -> Sums: ...
    def destination(self) -> Sums: ...


@dataclass
class Download:
    """Objects of a store to a claim. Some stores have odd ETags, and clocks that go wrong."""

    cube: Cube
    storage: Storage
    home: Path
    """Folder of the server, which has objects as files, and their ETags in others."""
    chance: random.Random
    etags: str = "real"
    fields: dict[str, Any] = field(default_factory=dict)
    _writes: int = 0
    _prefix: str = "v1/"

    def put(self, name: str, data: bytes) -> None:
        key = self._prefix + name
        obstore.put(self.storage.store, key, data)
        self._writes += 1
        # Without ETags a store must have a clock that tells two versions apart, if not in their order.
        step = self._writes if self.etags != "real" else self.chance.choice([0, 0, self._writes])
        at = 1_700_000_000 + self.chance.choice([1, -1]) * step * 60
        bucket = self.storage.bucket
        os.utime(self.home / "data" / bucket / key, (at, at))
        if self.etags != "real":
            tag = b"" if self.etags == "none" else b'"constant"'
            (self.home / "side" / bucket / key / "meta/etag").write_bytes(tag)

    def remove(self, name: str) -> None:
        obstore.delete(self.storage.store, self._prefix + name)

    def move(self) -> None:
        self._prefix = f"v{int(self._prefix[1:-1]) + 1}/"

    @property
    def sides(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.cube.remote(self._prefix, **self.fields), self.cube.local()

    def source(self) -> Sums:
        return objects(self.storage, self._prefix)

    def destination(self) -> Sums:
        return sums(self.cube.data)


@dataclass
class Upload:
    """Files of a claim to a store."""

    cube: Cube
    storage: Storage
    _folder: str = "data"

    def put(self, name: str, data: bytes) -> None:
        path = self.cube.claim / self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def remove(self, name: str) -> None:
        (self.cube.claim / self._folder / name).unlink()

    def move(self) -> None:
        self._folder += "-next"
        (self.cube.claim / self._folder).mkdir()

    @property
    def sides(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.cube.local(self._folder), self.cube.remote("to/")

    def source(self) -> Sums:
        return sums(self.cube.claim / self._folder)

    def destination(self) -> Sums:
        return objects(self.storage, "to/")


@dataclass
class Claims(Upload):
    """Files of a claim to another one."""

    @property
    def sides(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.cube.local(self._folder), self.cube.local("to")

    def destination(self) -> Sums:
        return sums(self.cube.claim / "to")
