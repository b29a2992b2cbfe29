"""Version of an object that an answer is about, so that no file is made of two versions."""

from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object


@dataclass(frozen=True, slots=True)
class Version:
    """What an answer says of the version of its object. A field is empty if the server does not say it."""

    etag: str
    modified: str
    """The header Last-Modified, as it came."""

    @property
    def is_known(self) -> bool:
        return bool(self.etag or self.modified)

    def is_listed(self, entry: S3Object) -> bool:
        """Return whether it may be the listed version. Servers round the time of a listing in their own ways."""
        moment, tolerance = _seconds(self.modified), 1 if entry.names_version else 0
        if moment is not None and abs(moment - entry.modified) > tolerance:
            return False
        return not (entry.names_version and self.etag) or self.etag == _plain(entry.etag)


def version_of(headers: Mapping[str, str]) -> Version:
    """Return the version that the headers of an answer, by name in lower case, are about."""
    return Version(_plain(headers.get("etag", "")), headers.get("last-modified", ""))


def _plain(etag: str) -> str:
    """Return an ETag without quotes, and without the mark of proxies that have packed the body."""
    return etag.removeprefix("W/").strip('"').lower()


def _seconds(text: str) -> int | None:
    try:
        return int(parsedate_to_datetime(text).timestamp())
    except (TypeError, ValueError, OverflowError):
        return None
