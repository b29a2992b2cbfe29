"""Objects of a listing that are in an archive of the store, and cannot be read before they are restored."""

from dataclasses import dataclass, field

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.schema.agents.exit_codes import ExitCode

ASKED, SHOWN = 20, 10
"""Maximum number of objects that are asked for a byte, and of objects that a message names."""

_READABLE = (404, 416)
"""Status codes of a range that is none of the object, and of an object that is gone: the fetch tells the latter."""


@dataclass
class Archives:
    """Objects to fetch whose storage class is one of an archive, unless the listing says that they are restored."""

    client: RestClient
    prefix: str
    """Prefix of the transfer in the bucket."""
    count: int = 0
    size: int = 0
    """Size of all of them in bytes."""
    _first: list[S3Object] = field(default_factory=list)

    def look(self, entry: S3Object) -> None:
        """Count an object that must be fetched, if it is in an archive."""
        if not entry.archive:
            return
        self.count += 1
        self.size += entry.size
        if len(self._first) < ASKED:
            self._first.append(entry)

    def check(self) -> None:
        """Raise AttemptError (5) if one of the first `ASKED` objects cannot be read.

        One byte of each is asked for: some stores read archives of the same class at once, and not all stores list
        which objects are restored.
        """
        for each in self._first:
            try:
                self.client.call("GET", self.prefix + each.key, headers={"range": "bytes=0-0"}, accepted=_READABLE)
            except AttemptError as failure:
                if failure.reason != "Archived":
                    raise
                raise self._failure(each.key) from None

    def _failure(self, key: str) -> AttemptError:
        shown = ", ".join(each.key[:200] for each in self._first[:SHOWN])
        more = f" and {self.count - SHOWN} more" if self.count > SHOWN else ""
        classes = ", ".join(sorted({each.archive[:40] for each in self._first}))
        message = (
            f"{self.count} objects of {self.size} bytes are in an archive of the store ({classes}), and {key[:200]!r}"
            f" for one must be restored before it can be read: {shown}{more}. Restore them, or leave them out by"
            " `exclude`. Nothing was written"
        )
        return AttemptError(ExitCode.CONFLICT, "Archived", message)
