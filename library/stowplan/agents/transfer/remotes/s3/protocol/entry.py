"""One object of a listing, the version of it that an answer is about, and files that hold one such entry per line."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from stowplan.agents.transfer.remotes.s3.protocol.answers import is_etag, seconds_of

_MD5 = re.compile(r'"*([0-9a-f]{32})(?:-([0-9]+))?"*')


@dataclass(frozen=True, slots=True)
class S3Object:
    """Object of a bucket in one version. If its key ends in `/`, it stands for a folder."""

    key: str
    """Key relative to the transfer's prefix, and path relative to the destination."""
    size: int
    etag: str
    """ETag from the server, in quotes."""
    modified: int
    """Modification time in whole seconds since 1970; the file gets the same one."""
    archive: str = field(default="", compare=False)
    """Storage class if it is one of an archive, from which the object may have to be restored first; empty otherwise.

    It is no part of a version: to restore or to archive an object does not change it.
    """

    @property
    def is_folder(self) -> bool:
        return self.key.endswith("/")

    @property
    def names_version(self) -> bool:
        """False if the ETag is missing, or the one that MinIO gives every file that others have put into its folder."""
        return bool(set(self.etag) - {'"'}) and self.etag.strip('"') != f"{'0' * 32}-1"

    @property
    def identity(self) -> str:
        """Hash of all fields in hexadecimal digits, as the name of files about this version of the object."""
        return hashlib.blake2s(
            repr((self.key, self.size, self.etag, self.modified)).encode(), digest_size=16
        ).hexdigest()

    @property
    def md5(self) -> str | None:
        """MD5 of the bytes in hexadecimal digits, from the ETag; None if the ETag does not have the form of an MD5.

        ETags of objects that the store encrypts with its own keys have the same form, but are no MD5 of the bytes.
        """
        found = _MD5.fullmatch(self.etag.lower())
        return found[1] if found and not found[2] else None

    @property
    def pieces(self) -> tuple[bytes, int] | None:
        """MD5 of the parts' MD5s, and the number of parts, from the ETag of a multipart upload.

        None if the ETag does not have the form `<MD5>-<number>`.
        """
        found = _MD5.fullmatch(self.etag.lower())
        return (bytes.fromhex(found[1]), int(found[2])) if found and found[2] else None


def written(entry: S3Object, *, wanted: bool) -> str:
    """Return an entry as one line of JSON. `wanted`, whether its content must be fetched, is stored with it."""
    return json.dumps([entry.key, entry.size, entry.etag, entry.modified, int(wanted)], ensure_ascii=False) + "\n"


def read(line: str) -> tuple[S3Object, bool]:
    """Parse a line that `written` made; return the entry, and whether its content must be fetched.

    The line may end in a newline. `archive` of the entry is empty, as it is not stored. Raises ValueError if the line
    is invalid: others may write to the file. The key may be any string.
    """
    try:
        key, *version, wanted = json.loads(line)
    except (RecursionError, TypeError):
        raise ValueError(line) from None
    if not isinstance(key, str) or not is_version(*version):
        raise ValueError(line)
    return S3Object(key, *version), bool(wanted)


def is_version(*fields: object) -> bool:
    """Return whether the fields are size, ETag and time of an object."""
    if [type(each) for each in fields] != [int, str, int]:
        return False
    size, etag, modified = fields
    return 0 <= size < 1 << 63 and is_etag(etag) and abs(modified) < 1 << 40  # type: ignore[operator, arg-type]


class KeyLookup:
    """Look-up by key in a stream of entries with ascending keys. Keys must be asked for in ascending order too."""

    def __init__(self, entries: Iterator[S3Object]) -> None:
        self._entries = entries
        self._next = next(entries, None)

    def at(self, key: str) -> S3Object | None:
        """Return the entry with this key; None if there is none. No key may be smaller than that of the call before."""
        while self._next and self._next.key < key:
            self._next = next(self._entries, None)
        return self._next if self._next and self._next.key == key else None


@dataclass(frozen=True, slots=True)
class Version:
    """What an answer says of the version of its object. A field is empty if the server does not say it."""

    etag: str
    """ETag in lower case, without quotes and `W/`."""
    modified: str
    """The header Last-Modified, as it came."""

    @property
    def is_known(self) -> bool:
        return bool(self.etag or self.modified)

    def is_listed(self, entry: S3Object) -> bool:
        """Return whether it may be the listed version. Servers round the time of a listing in their own ways."""
        moment, tolerance = seconds_of(self.modified), 1 if entry.names_version else 0
        if moment is not None and abs(moment - entry.modified) > tolerance:
            return False
        return not (entry.names_version and self.etag) or self.etag == _plain(entry.etag)


def version_of(headers: Mapping[str, str]) -> Version:
    """Return the version that the headers of an answer, by name in lower case, are about."""
    return Version(_plain(headers.get("etag", "")), headers.get("last-modified", ""))


def _plain(etag: str) -> str:
    """Return an ETag without quotes, and without the mark of proxies that have packed the body."""
    return etag.removeprefix("W/").strip('"').lower()


_ARCHIVES = frozenset(
    {
        # https://docs.aws.amazon.com/AmazonS3/latest/userguide/storage-class-intro.html; GLACIER_IR is read at once.
        "GLACIER",
        "DEEPARCHIVE",
        # Alibaba Cloud OSS, Tencent COS, Baidu BOS, Volcengine TOS; with Google, ARCHIVE is read at once.
        "ARCHIVE",
        "MAZARCHIVE",
        "COLDARCHIVE",
        "DEEPCOLDARCHIVE",
        # Huawei OBS; with Baidu, COLD is read at once.
        "COLD",
        # IBM Cloud Object Storage.
        "ACCELERATED",
    }
)
"""Storage classes of archives, of which some stores read some at once. Case, `-` and `_` do not count."""


def archive_of(storage_class: str) -> str:
    """Return a storage class as it is if it may be one of an archive; otherwise an empty string."""
    return storage_class if storage_class.upper().replace("_", "").replace("-", "") in _ARCHIVES else ""


def archive_of_headers(headers: Mapping[str, str]) -> str:
    """Return the storage class of an object from the headers about it; empty if it is in no archive, or restored."""
    restored = 'ongoing-request="false"' in headers.get("x-amz-restore", "")
    return "" if restored else archive_of(headers.get("x-amz-storage-class", ""))
