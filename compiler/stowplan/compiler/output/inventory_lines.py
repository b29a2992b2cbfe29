"""Entries of the inventory and their lines: each line is a JSON object with sorted keys, in ASCII."""

from collections.abc import Iterable, Iterator
from json import JSONEncoder
from typing import Annotated, Any, NamedTuple

from msgspec import Meta, MsgspecError, Struct
from msgspec.json import Decoder

from stowplan.compiler.output import paths
from stowplan.library.manifest import ExternalReference
from stowplan.schema.meta import ObjectId, SpecId

_ENCODER = JSONEncoder(sort_keys=True)
_Integer = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Entry(NamedTuple):
    """One file that a command wrote. `sha256` and `size` (bytes) are those of the whole file, header included.

    `path` is relative to the output folder. `spec`, `spec_digest` and `externals` are those of the `OutputFile`. `run`
    is True for a file of a run. `compiled` is the compiler mark of such a file (see `compiler_mark`). It is empty for
    other files and in inventories of version 0.1.0. `line` is the line that the entry was read from, without its line
    break; empty for a new entry.
    """

    path: str
    id: ObjectId
    sha256: str
    size: int
    spec: SpecId | None
    spec_digest: str
    wave: int
    run: bool
    externals: tuple[ExternalReference, ...] = ()
    compiled: str = ""
    line: str = ""


def to_line(entry: Entry) -> str:
    """Return the line of an entry, without a line break."""
    record: dict[str, Any] = {
        **entry._asdict(),
        "id": entry.id._asdict(),
        "spec": entry.spec._asdict() if entry.spec else None,
        "externals": [each._asdict() for each in entry.externals],
    }
    del record["line"]
    if not entry.compiled:
        del record["compiled"]
    return _ENCODER.encode(record)


def from_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, Entry | None]]:
    """Yield number and entry of each line; None in place of an invalid entry or one with an unsafe path. Never raises.

    `first` is the number of the first line. Lines may end in a line break; empty lines are skipped, but counted. A line
    is JSON with exactly the types of `Entry`; further keys are ignored. Integers have 64 bits.
    """
    for number, line in enumerate(lines, first):
        if own := line.rstrip(b"\n"):
            yield number, _entry(own)


class _Id(Struct):
    group: str
    kind: str
    namespace: str
    name: str


class _Spec(Struct):
    kind: str
    namespace: str
    name: str


class _External(Struct):
    kind: str
    namespace: str
    name: str
    keys: tuple[str, ...] = ()


class _Line(Struct):
    path: str
    id: _Id
    sha256: str
    size: _Integer
    spec: _Spec | None
    spec_digest: str
    wave: _Integer
    run: bool
    externals: tuple[_External, ...] = ()
    compiled: str = ""


_DECODER = Decoder(_Line)


def _entry(line: bytes) -> Entry | None:
    """Return the entry of a line; None if it is not JSON, lacks a key, or has an unsafe path or a wrong type."""
    try:
        text, found = line.decode(), _DECODER.decode(line)
    except (MsgspecError, RecursionError, UnicodeDecodeError):
        return None
    if not paths.safe(found.path):
        return None
    known = ObjectId(found.id.group, found.id.kind, found.id.namespace, found.id.name)
    spec = SpecId(found.spec.kind, found.spec.namespace, found.spec.name) if found.spec else None
    externals = tuple([ExternalReference(each.kind, each.namespace, each.name, each.keys) for each in found.externals])
    return Entry(
        found.path,
        known,
        found.sha256,
        found.size,
        spec,
        found.spec_digest,
        found.wave,
        found.run,
        externals,
        found.compiled,
        text,
    )
