"""Record of the names that copies have brought to one destination, and of the sources that they are from.

It is a file in the state folder of the claim, the same for all copies to one directory: a line about the sources, then
a line `[key, listed]` for each name in ascending order. `listed` is 1 if the source of the present copy has it.
"""

import hashlib
import heapq
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Self

from stowplan.agents.attempt.claim.folder import ClaimFolder, durable
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import json_object
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import STATE_DIRECTORY

FOLDER = "brought"
"""Name of the folder with these records in the state folder."""

Line = tuple[str, bool]
"""Key, and whether the source of the present copy has it."""


class Brought:
    """Record for one destination. `source` names where the present copy is from.

    Others may write to the file, so what is read for a deletion must be what this object has written.
    """

    def __init__(self, folder: ClaimFolder, name: str, source: str) -> None:
        self._folder, self._name, self._next = folder, name, f"{name}.next"
        self._source = hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest()
        self._sources = self._header()
        self._written = ""

    @classmethod
    def of(cls, settings: TransferSettings, source: str) -> Self:
        """Open the record for the destination of a copy."""
        directory = settings.config.state.directory if settings.config.state else STATE_DIRECTORY
        root = directory.partition(STATE_DIRECTORY)[0] + STATE_DIRECTORY
        name = hashlib.sha256(settings.local.path.strip("/").encode()).hexdigest()[:32]
        return cls(ClaimFolder.at(settings.claim, f"{root}/{FOLDER}", create=True), f"{name}.jsonl", source)

    @property
    def moved(self) -> bool:
        """Whether what is there is from another source, by the last complete copy and those begun since."""
        return bool(self._sources - {self._source})

    def known(self) -> Iterator[str]:
        """Yield the keys that earlier copies have brought, in ascending order. Others may have changed them."""
        return (key for key, _ in self._read(self._name))

    def prepare(self, listed: Iterable[str]) -> None:
        """Write a new record with the keys of the source, in ascending order. It is in force from `begin` on."""
        self._write(self._next, self._sources | {self._source}, _merged(((key, True) for key in listed), self.known()))

    def lines(self) -> Iterator[Line]:
        """Yield what `prepare` has written. Raises AttemptError (11) at the end if others have changed it since."""
        digest = hashlib.sha256()
        for line in self._read(self._next):
            digest.update(_line(line).encode())
            yield line
        if digest.hexdigest() != self._written:
            message = "Others have changed the record of the names in the destination: nothing was deleted"
            raise AttemptError(ExitCode.INTEGRITY, "Incomplete", message)

    def begin(self) -> None:
        """Put the new record in force, before the first of its names is copied."""
        self._folder.move(self._next, self._folder, self._name)
        self._folder.sync()
        self._next = self._name

    def finish(self, kept: Iterable[str]) -> None:
        """Record that the copy is complete. Of the keys that the source does not have, only those of `kept` remain."""
        listed = ((key, True) for key, listed in self._read(self._next) if listed)
        self._write(self._name, {self._source}, _merged(listed, kept))
        if self._next != self._name:
            self._folder.remove_file(self._next)

    def close(self) -> None:
        self._folder.close()

    def _header(self) -> set[str]:
        first = next(self._folder.lines(self._name), None)
        found = (json_object(first) or {}).get("sources")
        return {each for each in found if isinstance(each, str)} if isinstance(found, list) else set()

    def _read(self, name: str) -> Iterator[Line]:
        """Yield the lines of a record up to the first invalid one."""
        last = ""
        lines = self._folder.lines(name)
        next(lines, None)
        for each in lines:
            match _json(each):
                case [str(key), int(listed)] if key > last:
                    last = key
                    yield key, bool(listed)
                case _:
                    return

    def _write(self, name: str, sources: set[str], lines: Iterable[Line]) -> None:
        digest = hashlib.sha256()
        with self._folder.replacing(name) as file:
            file.write(json.dumps({"format": 1, "sources": sorted(sources)}) + "\n")
            for each in lines:
                text = _line(each)
                digest.update(text.encode())
                file.write(text)
            durable(file)
        self._folder.sync()
        self._written = digest.hexdigest()


def _merged(listed: Iterable[Line], others: Iterable[str]) -> Iterator[Line]:
    """Merge two sorted streams. A key that both have is a listed one."""
    both = heapq.merge(listed, ((key, False) for key in others), key=lambda each: each[0])
    for key, same in groupby(both, key=lambda each: each[0]):
        yield key, any(listed for _, listed in same)


def _line(line: Line) -> str:
    key, listed = line
    return json.dumps([key, int(listed)]) + "\n"


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
