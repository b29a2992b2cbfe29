"""Sorting of a listing of any length in bounded memory."""

import heapq
import json
import os
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from operator import attrgetter

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.schema.agents.exit_codes import ExitCode

RUN_BYTES = 24 << 20
"""Maximum size in bytes of the entries in memory: of some 60,000."""

MOST_RUNS, MOST_BYTES = 600, 512 << 20
"""Maximum number of sorted runs in the temporary file, and of its bytes. It holds some 30 million entries."""

_BLOCK, _UNPACKED = 4 << 10, 16 << 10
"""Bytes of each run that are in memory as the runs are merged: as they are in the file, and unpacked."""

_key = attrgetter("key")


def ascending(entries: Iterable[S3Object]) -> Iterator[S3Object]:
    """Yield entries in ascending order of keys. All of them are read before the first one is yielded.

    Those that do not fit into memory are in a temporary file meanwhile. Raises AttemptError if there are too many.
    """
    kept: list[S3Object] = []
    size = 0
    with tempfile.TemporaryFile() as file:
        runs: list[tuple[int, int]] = []
        for entry in entries:
            kept.append(entry)
            size += sys.getsizeof(entry) + sys.getsizeof(entry.key) + sys.getsizeof(entry.etag)
            if size >= RUN_BYTES:
                runs.append(_written(file.fileno(), runs[-1][1] if runs else 0, kept))
                kept, size = [], 0
                if len(runs) > MOST_RUNS:
                    raise _too_many()
        kept.sort(key=_key)
        yield from heapq.merge(*(_read(file.fileno(), *run) for run in runs), kept, key=_key)


def _written(descriptor: int, begin: int, entries: list[S3Object]) -> tuple[int, int]:
    """Write entries in their order to a file, from the offset `begin` on. Return this offset and that of the end."""
    packer, end = zlib.compressobj(1), begin
    for entry in sorted(entries, key=_key):
        line = json.dumps([entry.key, entry.size, entry.etag, entry.modified, entry.archive]) + "\n"
        end = _put(descriptor, packer.compress(line.encode()), end)
    return begin, _put(descriptor, packer.flush(), end)


def _put(descriptor: int, data: bytes, offset: int) -> int:
    if offset + len(data) > MOST_BYTES:
        raise _too_many()
    while data:
        count = os.pwrite(descriptor, data, offset)
        data, offset = data[count:], offset + count
    return offset


def _read(descriptor: int, begin: int, end: int) -> Iterator[S3Object]:
    unpacker, line = zlib.decompressobj(), b""
    while not unpacker.eof:
        data = unpacker.unconsumed_tail
        if not data:
            data = os.pread(descriptor, min(_BLOCK, end - begin), begin)
            begin += len(data)
        *lines, line = (line + unpacker.decompress(data, _UNPACKED)).split(b"\n")
        for each in lines:
            key, size, etag, modified, archive = json.loads(each)
            yield S3Object(key, size, etag, modified, archive)


def _too_many() -> AttemptError:
    message = "The store lists its objects in no order, and they are too many to be sorted here: name a longer prefix"
    return AttemptError(ExitCode.CONFLICT, "UnsortedListing", message)
