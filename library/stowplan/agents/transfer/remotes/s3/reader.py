"""Requests for the bytes of objects, with checks that the answers are about the wanted version."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.transfer.parts import ChangedError, Extent, PartFile
from stowplan.agents.transfer.remotes.s3.protocol.connections import Incoming
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object, Version, version_of
from stowplan.agents.transfer.remotes.s3.protocol.proof import Prover
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.agents.transfer.remotes.s3.source import head
from stowplan.schema.agents.exit_codes import ExitCode

_OTHER = (404, 412, 416)
"""Status codes that mean that the server no longer has the listed version of an object."""

CHUNK = 1 << 19
"""Maximum bytes of an object that a thread has in memory, whatever the size of the object."""


@dataclass(frozen=True)
class Reader:
    """Reads objects below a prefix. Any thread may use it."""

    client: RestClient
    prefix: str
    """Prefix of the transfer in the bucket; the full key of an object is `prefix` plus its key."""
    prover: Prover
    stop: Stop
    _versions: dict[str, Version] = field(default_factory=dict)
    """Versions of the first answers with parts of an object, by `S3Object.identity`."""

    @contextmanager
    def whole(self, entry: S3Object) -> Iterator[Incoming]:
        """Request an object and its checksum, and yield the answer before its body is read.

        Raises ChangedError if the object has changed, and AttemptError if it is gone or something else was sent.
        """
        with self.prover.reading(entry, _match(entry), _OTHER) as incoming:
            self._check(entry, incoming, incoming.headers.get("content-length", ""))
            _check_range(entry, "", incoming)
            yield incoming

    @contextmanager
    def part(self, parts: PartFile[S3Object], extent: Extent) -> Iterator[Incoming]:
        """Request a part, and yield the answer before its body is read. It raises as `whole`.

        It raises ChangedError also if the part is of another version than the first one.
        """
        entry, wanted = parts.entry, f"bytes {extent.start}-{extent.end - 1}"
        headers = {**_match(entry), "range": wanted.replace(" ", "=")}
        with self.client.reading(self.prefix + entry.key, headers, _OTHER, extent.end - extent.start) as incoming:
            self._check(entry, incoming, incoming.headers.get("content-range", "").rpartition("/")[2])
            _check_range(entry, wanted, incoming)
            self._check_version(parts, version_of(incoming.headers))
            yield incoming

    def body(self, entry: S3Object, size: int, incoming: Incoming) -> Iterator[memoryview]:
        """Yield the `size` bytes of an answer. Each yielded view is valid only until the next one.

        Raises AttemptError (11) if the server sends more or fewer bytes.
        """
        buffer, left = memoryview(bytearray(min(CHUNK, size) or 1)), size
        while left and (count := incoming.fill(buffer[:left])):
            self.stop.check()
            self.client.throttle.moved(count)
            left -= count
            yield buffer[:count]
        if incoming.fill(buffer[:1]):
            raise _wrong_length(entry, f"more than {size} bytes", incoming)
        if left:
            raise _wrong_length(entry, f"{size - left} bytes of {size}", incoming)

    def now(self, entry: S3Object) -> S3Object:
        """Ask the server for the present version of the object. Raises AttemptError if the object no longer exists."""
        found, _ = head(self.client, self.prefix + entry.key)
        if found is None:
            raise _gone(entry)
        return S3Object(entry.key, found.size, found.etag, found.modified)

    def forget(self, entry: S3Object) -> Version:
        """Forget which version the parts of an object had, and return it; an unknown one if no part was requested."""
        return self._versions.pop(entry.identity, Version("", ""))

    def _check(self, entry: S3Object, incoming: Incoming, size: str) -> None:
        """Check that an answer is about the listed version. `size` is that of the object by the answer's headers."""
        if incoming.status == 404:
            raise _gone(entry)
        if incoming.status in _OTHER:
            raise ChangedError(entry.key)
        if size.isdecimal() and int(size) != entry.size:
            if self.now(entry).size == entry.size:
                raise _wrong_length(entry, f"{int(size)} bytes of {entry.size}", incoming)
            raise ChangedError(entry.key)
        if not entry.names_version and not version_of(incoming.headers).is_listed(entry):
            raise ChangedError(entry.key)

    def _check_version(self, parts: PartFile[S3Object], version: Version) -> None:
        entry = parts.entry
        # Parts of an earlier attempt are of the listed version.
        resumed = entry.identity not in self._versions and parts.present
        if self._versions.setdefault(entry.identity, version) != version or (resumed and not version.is_listed(entry)):
            raise ChangedError(entry.key)


def _match(entry: S3Object) -> dict[str, str]:
    return {"if-match": entry.etag} if entry.etag else {}


def _check_range(entry: S3Object, wanted: str, incoming: Incoming) -> None:
    sent = incoming.headers.get("content-range", "").partition("/")[0]
    if sent != wanted:
        message = f"{entry.key}: the server sent {sent[:100] or 'no range'} instead of the bytes that were asked for"
        raise AttemptError(ExitCode.TRANSIENT, "WrongRange", message)


def _gone(entry: S3Object) -> AttemptError:
    return AttemptError(ExitCode.TRANSIENT, "ObjectGone", f"{entry.key} was listed but is not there any more")


def _wrong_length(entry: S3Object, came: str, incoming: Incoming) -> AttemptError:
    message, encoding = f"{entry.key}: the server sent {came}", incoming.headers.get("content-encoding", "")
    if encoding:
        message += f", with the Content-Encoding {encoding[:40]!r}"
    if encoding or "content-length" not in incoming.headers or incoming.status == 200:
        message += (
            ". If the store or a proxy packs or unpacks objects on their way, turn that off there, or store them"
            " without Content-Encoding"
        )
    return AttemptError(ExitCode.INTEGRITY, "WrongLength", message)
