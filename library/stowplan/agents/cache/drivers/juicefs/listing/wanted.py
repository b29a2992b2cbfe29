"""Keys that a sync has to fetch one by one, in a compressed file: they may be many millions."""

import gzip
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import filterfalse, islice
from pathlib import Path
from typing import Self

MOST = 100_000
"""Maximum number of keys that one call of `juicefs sync` gets as a list."""


@dataclass
class WantedKeys:
    """Keys without line breaks, in the order in which they were added. `kept` makes an empty list."""

    count: int = 0
    bytes: int = 0
    """Size of the objects."""
    _folder: Path = field(default_factory=Path)

    @classmethod
    @contextmanager
    def kept(cls) -> Iterator[Self]:
        """Yield an empty list, whose file exists until the end of the block."""
        with tempfile.TemporaryDirectory(prefix="stowplan-") as folder:
            yield cls(_folder=Path(folder))

    @contextmanager
    def adding(self) -> Iterator[Callable[[str, int], None]]:
        """Yield a function that adds a key and the size of its object. Keys of an earlier block are dropped."""
        self.count = self.bytes = 0
        with gzip.open(self._file, "wt", compresslevel=1, encoding="utf-8", newline="\n") as file:

            def add(key: str, size: int) -> None:
                self.count += 1
                self.bytes += size
                file.write(f"{key}\n")

            yield add

    def lists(self) -> Iterator[Path]:
        """Yield paths of files of `MOST` keys at most, for `--files-from`. Each file is replaced by the next one."""
        portion = self._folder / "portion"
        keys = filter(_is_listable, self.keys())
        while some := list(islice(keys, MOST)):
            portion.write_text("".join(f"{key}\n" for key in some), encoding="utf-8", newline="\n")
            yield portion

    def unlisted(self) -> Iterator[str]:
        """Yield the keys that cannot be in such a file."""
        return filterfalse(_is_listable, self.keys())

    def keys(self) -> Iterator[str]:
        """Yield all keys."""
        if self.count:
            with gzip.open(self._file, "rt", encoding="utf-8", newline="\n") as file:
                for line in file:
                    yield line.removesuffix("\n")

    @property
    def _file(self) -> Path:
        return self._folder / "wanted.gz"


def _is_listable(key: str) -> bool:
    """Return whether JuiceFS finds a key in a list: it cuts white space at the end of a line."""
    return key == key.rstrip() != ""
