"""Record of the names that copies have brought to one destination, and of the sources that they are from.

It is a file in the state folder of the claim, the same for all copies to one directory: a line with the sources of each
owner, then a line `[key, listed, source]` for each name in ascending order. `listed` is 1 if the source of the last
copy has it, and `source` is the hash of the one that brought it last. An owner is a spec, such as a Dataset: what one
has brought does not go because the source of another one moves.
"""

import hashlib
import heapq
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple, Self

from stowplan.agents.attempt.claim.folder import ClaimFolder, durable
from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.safe_files import json_object, json_value
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.marker import STATE_DIRECTORY

FOLDER = "brought"
"""Name of the folder with these records in the state folder."""

TAG = 16
"""Characters of the hash of a source."""


class BroughtName(NamedTuple):
    """A name that a copy has brought. `key` is its path relative to the destination, with `/` at a folder's end."""

    key: str
    listed: bool
    """Whether the source of the present copy has it."""
    source: str
    """Hash of the source that brought it last."""


class BroughtNames:
    """Record of the names of the files that copies brought to one destination, and of where each is from.

    So files of an earlier source can be deleted. The record is the file `name` in `folder`, which `close` closes.
    `source` names where the present copy is from, and `owner` is the spec whose source it is; empty for a copy that
    leaves files of earlier sources alone. Others may change the record: what is read for a deletion must be what this
    object has written. Call `prepare`, then `lines`, `begin` before the first change, and `finish` after the last one;
    without a change `begin` may be left out. Methods raise OSError.
    """

    def __init__(self, folder: ClaimFolder, name: str, owner: str, source: str) -> None:
        self._folder, self._name, self._next, self._owner = folder, name, f"{name}.next", owner
        self._source = hashlib.sha256(source.encode(errors="surrogatepass")).hexdigest()[:TAG]
        self._owners = self._header()
        others = {each for name, sources in self._owners.items() if name != owner for each in sources}
        self._earlier = self._owners.get(owner, set()) - others - {self._source} if owner else set()
        self._written = ""

    @classmethod
    def of(cls, settings: TransferSettings, source: str) -> Self:
        """Open the record for a copy's destination; the caller closes it. `source` differs for each source."""
        config = settings.config
        directory = config.state.directory if config.state else STATE_DIRECTORY
        root = directory.partition(STATE_DIRECTORY)[0] + STATE_DIRECTORY
        name = hashlib.sha256(settings.local.path.strip("/").encode()).hexdigest()[:32]
        # A DatasetTask copies from the source of its Dataset, whose own sync takes away what an earlier source brought.
        target = config.target
        owner = "" if target.kind == "DatasetTask" else f"{target.kind}/{target.namespace}/{target.name}"
        return cls(ClaimFolder.at(settings.claim, f"{root}/{FOLDER}", create=True), f"{name}.jsonl", owner, source)

    @property
    def moved(self) -> bool:
        """Whether the owner has copied from another source, by the last complete copy and those begun since."""
        return bool(self._earlier)

    def is_earlier(self, line: BroughtName) -> bool:
        """Return whether the present source lacks the name, and an earlier one of this owner alone has brought it."""
        return not line.listed and line.source in self._earlier

    def known(self) -> Iterator[str]:
        """Yield the recorded keys that the owner's sources brought, in ascending order. Others may have changed them.

        Those of the present source too: after a kill, what an earlier one brought may still be in their place.
        """
        own = self._earlier | {self._source}
        return (each.key for each in self._read(self._name) if each.source in own)

    def prepare(self, listed: Iterable[str]) -> None:
        """Write a new record with `listed`, the source's keys in ascending order. It is in force from `begin` on."""
        before = (BroughtName(key, listed=False, source=source) for key, _, source in self._read(self._name))
        sources = self._owners.get(self._owner, set()) | {self._source}
        self._write(
            self._next, sources, _merged((BroughtName(key, listed=True, source=self._source) for key in listed), before)
        )

    def lines(self) -> Iterator[BroughtName]:
        """Yield what `prepare` has written. Raises AttemptError (11) at the end if others have changed it since."""
        digest = hashlib.sha256()
        for line in self._read(self._next):
            digest.update(_line(line).encode())
            yield line
        if digest.hexdigest() != self._written:
            message = "Others have changed the record of the names in the destination: nothing was deleted"
            raise AttemptError(ExitCode.INTEGRITY, "Incomplete", message)

    def begin(self) -> None:
        """Put what `prepare` has written in the place of the record, so that it survives a crash of the machine.

        Call this after `prepare`, before the first file is copied or deleted. Raises OSError.
        """
        self._folder.move(self._next, self._folder, self._name)
        self._folder.sync()
        self._next = self._name

    def finish(self, kept: Iterable[BroughtName]) -> None:
        """Record that the copy is complete. Of the keys that the source lacks remain `kept`, in ascending order."""
        listed = (each for each in self._read(self._next) if each.listed)
        self._write(self._name, {self._source}, _merged(listed, kept))
        if self._next != self._name:
            self._folder.remove_file(self._next)

    def close(self) -> None:
        self._folder.close()

    def _header(self) -> dict[str, set[str]]:
        first = next(self._folder.lines(self._name), None)
        found = (json_object(first) or {}).get("owners")
        known = found.items() if isinstance(found, dict) else ()
        return {owner: set(map(str, sources)) for owner, sources in known if isinstance(sources, list)}

    def _read(self, name: str) -> Iterator[BroughtName]:
        """Yield the lines of a record up to the first invalid one."""
        last = ""
        lines = self._folder.lines(name)
        next(lines, None)
        for each in lines:
            match json_value(each):
                case [str(key), int(listed), str(source)] if key > last:
                    last = key
                    yield BroughtName(key, bool(listed), source)
                case _:
                    return

    def _write(self, name: str, sources: set[str], lines: Iterable[BroughtName]) -> None:
        """Write a record. `sources` are those of the owner."""
        owners = self._owners | ({self._owner: sources} if self._owner else {})
        digest = hashlib.sha256()
        with self._folder.replacing(name) as file:
            head = {owner: sorted(each) for owner, each in sorted(owners.items())}
            file.write(json.dumps({"format": 1, "owners": head}) + "\n")
            for each in lines:
                text = _line(each)
                digest.update(text.encode())
                file.write(text)
            durable(file)
        self._folder.sync()
        self._written = digest.hexdigest()


def _merged(listed: Iterable[BroughtName], others: Iterable[BroughtName]) -> Iterator[BroughtName]:
    """Merge two sorted streams. Of a key that both have, the line of `listed` is taken."""
    both = heapq.merge(listed, others, key=lambda each: (each.key, not each.listed))
    for _, same in groupby(both, key=lambda each: each.key):
        yield next(same)


def _line(line: BroughtName) -> str:
    return json.dumps([line.key, int(line.listed), line.source]) + "\n"
