"""Listing of a sync's source if it is an S3 store: `juicefs sync` does not tell which versions it has copied."""

import re
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.cache.drivers.juicefs.credentials import given
from stowplan.agents.cache.drivers.juicefs.listing.entry import Entry
from stowplan.agents.cache.drivers.work import TaskWork
from stowplan.agents.transfer.remotes.s3.revision import DEFAULT_REGION, Bucket, S3Credentials, of_prefix
from stowplan.schema.agents.agent_config import SOURCE_SECRET_ENV
from stowplan.schema.agents.cache_config import SyncConfig
from stowplan.schema.remotes.s3_listing import JUICEFS_STORAGES, ListingHash

_PATH_STYLE = re.compile(r"(localhost|s3[.-].*\.amazonaws\.com|\d+\.\d+\.\d+\.\d+)?(:\d*)?")
"""Hosts of `s3://` before whose bucket JuiceFS writes a slash (`isS3PathType` of `cmd/sync.go`, JuiceFS 1.3)."""

_AMAZON = re.compile(r"(?:(?P<bucket>.+)\.)?(?P<host>s3(?:[.-](?P<region>[a-z0-9-]+))?\.amazonaws\.com(?:\.cn)?)")


@dataclass(frozen=True)
class SourceListing:
    """The source of a sync, and the access to it."""

    config: SyncConfig
    work: TaskWork
    environment: Mapping[str, str]

    @property
    def prefix(self) -> tuple[Bucket, str] | None:
        """Return the bucket and the prefix that the source is; None if it is no prefix of an S3 store."""
        return prefix_of(self.config.source, self.environment, no_https=bool(self.config.flags.get("no-https")))

    def entries(self, prefix: tuple[Bucket, str], listing: ListingHash) -> Generator[Entry]:
        """Yield the objects of the prefix in ascending order of keys, and add each to `listing`. Must be closed.

        `prefix` is the property's value. Raises AttemptError if the listing fails, StoppedError if the work must stop.
        """
        access, secret = (given(self.environment, SOURCE_SECRET_ENV[key]) for key in ("access-key", "secret-key"))
        bucket = replace(prefix[0], credentials=S3Credentials(access, secret) if access and secret else None)
        with closing(of_prefix(bucket, prefix[1], self.work.stop, self.work.log, self.work.redact)) as objects:
            for each in objects:
                listing.add(each.key, each.size, each.etag)
                yield Entry(each.key, each.size, each.modified, each.etag if each.names_version else "")

    def revision(self) -> str | None:
        """List the source and return the hash of the listing; None if it is no S3 store, or cannot be listed.

        Raises StoppedError if the work must stop.
        """
        listing, prefix = ListingHash(), self.prefix
        if prefix is None:
            return None
        try:
            for _ in self.entries(prefix, listing):
                pass
        except AttemptError as error:
            self.work.log.warning("The source cannot be listed, so its revision is not recorded", error=str(error))
            return None
        return listing.revision


def prefix_of(source: str, environment: Mapping[str, str], *, no_https: bool) -> tuple[Bucket, str] | None:
    """Return what JuiceFS takes the URL of a source for; None unless it is all objects below a prefix of an S3 store.

    Without `/` at its end a URL means an object, or keys with a common beginning. `no_https` is the option of that
    name. Of `s3://BUCKET/` alone JuiceFS asks AWS for the region; here it is that of the environment.
    """
    parts = urlsplit(source)
    scheme, host, path = parts.scheme.lower(), parts.netloc, unquote(parts.path).lstrip("/")
    if scheme not in JUICEFS_STORAGES or not host or "@" in host or parts.query or parts.fragment:
        return None
    in_path = has_bucket_in_path(scheme, host)
    bucket, _, prefix = path.partition("/") if in_path else ("", "", path)
    if prefix and not prefix.endswith("/"):
        return None
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or DEFAULT_REGION
    protocol = "http" if no_https or scheme == "minio" or _is_of_address(host) else "https"
    amazon = _AMAZON.fullmatch(host) if scheme == "s3" else None
    path_style = True
    if amazon:
        bucket, host, path_style = bucket or amazon["bucket"] or "", amazon["host"], in_path
        region = amazon["region"] or DEFAULT_REGION
    elif not in_path and "." in host:
        bucket, _, host = host.partition(".")
    elif not in_path:
        bucket, host, path_style = host, f"s3.{region}.amazonaws.com", False
    found = Bucket(bucket, f"{protocol}://{host}", region, path_style=path_style, credentials=None)
    return (found, prefix) if bucket else None


def has_bucket_in_path(scheme: str, host: str) -> bool:
    """Return whether the path of a URL begins with the bucket: `scheme` in lower case, `host` perhaps with a port."""
    return scheme == "minio" or (scheme == "s3" and _PATH_STYLE.fullmatch(host) is not None)


def _is_of_address(host: str) -> bool:
    """Return whether the host is a bucket before an IP address: JuiceFS then uses no TLS."""
    try:
        ip_address(host.partition(":")[0].partition(".")[2])
    except ValueError:
        return False
    return True
