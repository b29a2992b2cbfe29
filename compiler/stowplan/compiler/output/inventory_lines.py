"""Entries of the inventory and their lines: each line is a JSON object with sorted keys, in ASCII."""

from collections.abc import Iterable, Iterator
from json import JSONEncoder
from typing import Any, NamedTuple

import orjson

from stowplan.compiler.output import paths
from stowplan.library.manifest import ExternalReference
from stowplan.schema.meta import ObjectId, SpecId

_ENCODER = JSONEncoder(sort_keys=True)


class Entry(NamedTuple):
    """One file that a command wrote. `sha256` and `size` (bytes) are those of the whole file, header included.

    `run` is True for a file of a run. `compiled` is the compiler mark of such a file (see `compiler_mark`). It is empty
    for other files and in inventories of version 0.1.0.
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


def to_line(entry: Entry) -> str:
    """Return the line of an entry, without a line break."""
    record: dict[str, Any] = {
        **entry._asdict(),
        "id": entry.id._asdict(),
        "spec": entry.spec._asdict() if entry.spec else None,
        "externals": [each._asdict() for each in entry.externals],
    }
    if not entry.compiled:
        del record["compiled"]
    return _ENCODER.encode(record)


def from_lines(lines: Iterable[bytes], first: int = 1) -> Iterator[tuple[int, Entry | None]]:
    """Yield number and entry of each line; None in place of an invalid entry or one with an unsafe path. Never raises.

    `first` is the number of the first line. Lines may end in a line break; empty lines are skipped, but counted. A line
    is JSON with exactly the types of `Entry`; further keys are ignored. Integers have 64 bits.
    """
    for number, line in enumerate(lines, first):
        if line.rstrip(b"\n"):
            yield number, _entry(line)


def _entry(line: bytes) -> Entry | None:
    """Return the entry of a line; None if it is not JSON, lacks a key, or has an unsafe path or a wrong type."""
    try:
        match orjson.loads(line):
            case {
                "path": str(path),
                "id": {"group": str(group), "kind": str(kind), "namespace": str(namespace), "name": str(name)},
                "sha256": str(sha256),
                "size": int(size),
                "spec": spec,
                "spec_digest": str(spec_digest),
                "wave": int(wave),
                "run": bool(run),
                **others,
            } if paths.safe(path) and bool not in (type(size), type(wave)):
                known = ObjectId(group, kind, namespace, name)
                externals = tuple(map(_external, _list(others.get("externals", []))))
                compiled = _string(others.get("compiled", ""))
                return Entry(path, known, sha256, size, _spec(spec), spec_digest, wave, run, externals, compiled)
    except (TypeError, ValueError):
        pass
    return None


def _spec(value: Any) -> SpecId | None:
    match value:
        case None:
            return None
        case {"kind": str(kind), "namespace": str(namespace), "name": str(name)}:
            return SpecId(kind, namespace, name)
    raise TypeError("not a spec")


def _external(value: Any) -> ExternalReference:
    match value:
        case {"kind": str(kind), "namespace": str(namespace), "name": str(name)}:
            return ExternalReference(kind, namespace, name, tuple(map(_string, _list(value.get("keys", [])))))
    raise TypeError("not a reference")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a string")
    return value
