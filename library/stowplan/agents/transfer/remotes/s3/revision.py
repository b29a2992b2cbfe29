"""Listing and revision of the objects below a prefix, for agents that copy them by other means."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from stowplan.agents.attempt.failure import of_any
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
from stowplan.schema.remotes.s3_listing import ListingHash

__all__ = ["DEFAULT_REGION", "Listed", "S3Object", "S3Prefix", "listed", "of_prefix"]

_RETRIES = 3


@dataclass(frozen=True, slots=True)
class S3Prefix:
    """A prefix of a bucket."""

    endpoint: str
    """URL of the server."""
    bucket: str
    prefix: str
    """Empty for the whole bucket; otherwise it ends in `/`."""
    region: str
    path_style: bool
    """True if the bucket's name is in the path of URLs, False if it is the first label of the host."""


@dataclass(frozen=True, slots=True)
class Listed:
    """What a listing of a prefix says."""

    revision: str
    """Hash of the listing."""
    objects: int
    """Number of objects."""
    size: int
    """Size of all objects in bytes."""


def of_prefix(
    place: S3Prefix, keys: tuple[str, str] | None, stop: Stop, log: Log, redact: Redactor
) -> Generator[S3Object]:
    """Yield the objects below the prefix in ascending order of keys, which are relative to it. Must be closed.

    `keys` are access key and secret key, None for requests without a signature. Raises AttemptError if the objects
    cannot be listed, and StoppedError if the work must stop.
    """
    bucket = Bucket(
        place.bucket,
        place.endpoint,
        place.region,
        path_style=place.path_style,
        credentials=S3Credentials(*keys) if keys else None,
        # The program that copies the objects connects to the same server.
        network=Network(allow_loopback=True),
    )
    client = RestClient(bucket, Attempts(_RETRIES, stop, log, of_any), redact)
    try:
        for each in objects(client, place.prefix):
            stop.check()
            yield each
    finally:
        client.close()


def listed(client: RestClient, prefix: str, stop: Stop) -> Listed:
    """List the objects below a prefix. Raises AttemptError, and StoppedError if the work must stop."""
    try:
        return _listed(objects(client, prefix), stop)
    except UnsortedError:
        return _listed(sorted_objects(client, prefix), stop)


def _listed(entries: Iterable[S3Object], stop: Stop) -> Listed:
    listing, count, size = ListingHash(), 0, 0
    for each in entries:
        stop.check()
        listing.add(each.key, each.size, each.etag)
        count, size = count + 1, size + each.size
    return Listed(listing.revision, count, size)
