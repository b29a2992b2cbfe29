"""Listing and revision of the objects below a prefix, for agents that copy them by other means."""

from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass, replace

from stowplan.agents.attempt.failure import AttemptError, of_any
from stowplan.agents.attempt.network import Network
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.network.retry import Attempts
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import DEFAULT_REGION, Bucket
from stowplan.agents.transfer.remotes.s3.protocol.entry import S3Object
from stowplan.agents.transfer.remotes.s3.protocol.lists.listing import UnsortedError, objects, sorted_objects
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.agents.transfer.remotes.s3.protocol.signing import S3Credentials
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.remotes.s3_listing import ListingHash

__all__ = ["DEFAULT_REGION", "Bucket", "Listed", "S3Credentials", "listed", "of_prefix"]

_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Listed:
    """What a listing of a prefix says."""

    revision: str
    """Hash of the listing."""
    objects: int
    """Number of objects."""
    size: int
    """Size of all objects in bytes."""


def of_prefix(bucket: Bucket, prefix: str, stop: Stop, log: Log, redact: Redactor) -> Generator[S3Object]:
    """Yield the objects below a prefix in ascending order of keys, which are relative to it. Must be closed.

    Raises AttemptError if the objects cannot be listed, or are in another order, which `juicefs sync` cannot copy (it
    leaves objects out), and StoppedError if the work must stop.
    """
    with closing(_client(bucket, stop, log, redact)) as client:
        try:
            for each in objects(client, prefix):
                stop.check()
                yield each
        except UnsortedError as error:
            message = f"The store does not list keys in ascending order ({error}), which `juicefs sync` needs"
            hint = "copy them into a claim by a source `s3`, or a DataCube"
            raise AttemptError(ExitCode.CONFLICT, "UnsortedKeys", f"{message}: {hint}") from None


def listed(bucket: Bucket, prefix: str, stop: Stop, log: Log, redact: Redactor) -> Listed:
    """Return the sums and the hash of a listing below a prefix. Raises AttemptError, and StoppedError after a stop."""
    with closing(_client(bucket, stop, log, redact)) as client:
        try:
            return _listed(objects(client, prefix), stop)
        except UnsortedError:
            return _listed(sorted_objects(client, prefix), stop)


def _client(bucket: Bucket, stop: Stop, log: Log, redact: Redactor) -> RestClient:
    # Other programs, which copy the objects, connect to the same server, wherever it is.
    anywhere = replace(bucket, network=Network(allow_loopback=True))
    return RestClient(anywhere, Attempts(_RETRIES, stop, log, of_any), redact)


def _listed(entries: Iterable[S3Object], stop: Stop) -> Listed:
    listing, count, size = ListingHash(), 0, 0
    for each in entries:
        stop.check()
        listing.add(each.key, each.size, each.etag)
        count, size = count + 1, size + each.size
    return Listed(listing.revision, count, size)
