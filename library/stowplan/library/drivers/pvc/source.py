"""The source of a sync for the transfer agent: bucket, key, endpoint and region, parsed from JuiceFS' form of a URI.

The rules are those of `juicefs sync` 1.3 (`cmd/sync.go`, `pkg/object/s3.go`). The path holds the bucket if the host is
an address, `localhost` or `s3.<region>.amazonaws.com`; other hosts begin with the bucket. MinIO and addresses use HTTP.
"""

import re
from dataclasses import dataclass

from stowplan.schema.diagnostics import FieldPath, Finding, finding

STORAGES = ("s3", "minio")
"""Storages that the transfer agent can copy from."""

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]{1,5})?", re.ASCII)
_ADDRESS = re.compile(r"([0-9]{1,3}\.){3}[0-9]{1,3}|localhost", re.ASCII)
_AMAZON = re.compile(
    r"s3(?:[.-]dualstack)?(?:[.-](?P<region>[a-z]{2}-[a-z0-9-]+))?\.amazonaws\.com(?P<china>\.cn)?", re.ASCII
)


@dataclass(frozen=True, slots=True)
class S3Source:
    """Objects in a bucket. `key` is the prefix of their keys.

    `endpoint` is a URL, empty for AWS itself. `region` is empty if it is unknown.
    """

    bucket: str
    key: str
    endpoint: str = ""
    region: str = ""

    @property
    def uri(self) -> str:
        """The source as `s3://bucket/key`."""
        return f"s3://{self.bucket}/{self.key}"


def parse(uri: str, *, plain: bool = False) -> S3Source | str:
    """Return the source that the URI names, or a message if the URI is invalid. `plain` selects HTTP for HTTPS."""
    storage, _, rest = uri.partition("://")
    host, _, path = rest.partition("/")
    if storage not in STORAGES:
        return f'The driver pvc copies from {" and ".join(STORAGES)}; found "{storage}".'
    if not _HOST.fullmatch(host):
        return f'"{host}" is neither a host nor a bucket.'
    if storage == "minio" or _has_bucket_in_path(host):
        bucket, _, key = path.partition("/")
        if not bucket:
            return f"The path names no bucket of {host}."
        return _at(bucket, key, host, plain=plain or storage == "minio" or bool(_ADDRESS.match(host)))
    bucket, _, endpoint = host.partition(".")
    return _at(bucket, path, endpoint, plain=plain)


def findings(uri: str, path: FieldPath) -> list[Finding]:
    """Return a finding at `path` if a dataset in a claim cannot be copied from `uri`, else an empty list."""
    found = parse(uri)
    if isinstance(found, S3Source):
        return []
    hint = "Write for example s3://bucket.s3.eu-west-1.amazonaws.com/train/, or use a DataCube and `noSync: true`."
    return [finding("SP402", path, found, hint)]


def _has_bucket_in_path(host: str) -> bool:
    return bool(_ADDRESS.fullmatch(host.partition(":")[0]) or _AMAZON.fullmatch(host))


def _at(bucket: str, key: str, endpoint: str, *, plain: bool) -> S3Source:
    amazon = _AMAZON.fullmatch(endpoint)
    region = (amazon["region"] or "us-east-1") if amazon else ""
    if not endpoint or (amazon and not amazon["china"] and not plain):
        return S3Source(bucket, key, region=region)
    return S3Source(bucket, key, f"{'http' if plain else 'https'}://{endpoint}", region)
