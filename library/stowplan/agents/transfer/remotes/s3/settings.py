"""Settings of a transfer with an S3 store."""

from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.copying.patterns import Patterns
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.network import hosts
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import DEFAULT_REGION, Bucket
from stowplan.agents.transfer.remotes.s3.protocol.signing import S3Credentials
from stowplan.agents.transfer.settings import TransferSettings, Values
from stowplan.schema.remotes.s3 import S3Endpoint
from stowplan.schema.s3_uri import S3Uri

PART_LIMIT = 9_500
"""Maximum number of parts into which an object is divided; S3 allows 10000."""


@dataclass(frozen=True, slots=True)
class S3Settings:
    """Settings of a transfer with one bucket."""

    common: TransferSettings
    remote: S3Endpoint
    bucket: Bucket
    key: str
    """Key or prefix from the URI `s3://bucket/key`; empty for the whole bucket."""
    check_bucket: bool
    """True if an upload first checks that the bucket exists."""

    @property
    def name(self) -> str:
        """String that differs for each source."""
        return f"s3 {self.bucket.endpoint or ''} {self.bucket.name}/{self.key} {self.remote.revision}"

    @property
    def patterns(self) -> Patterns:
        """Patterns of the keys to copy, relative to the URI."""
        return Patterns(self.remote.include, self.remote.exclude)

    def part_size(self, size: int) -> int:
        """Return the part size in bytes for an object of `size` bytes.

        It is the configured one, or a larger one if the object would have more than `PART_LIMIT` parts.
        """
        return max(self.common.config.part_size_mib << 20, -(-size // PART_LIMIT))


def s3_settings(common: TransferSettings) -> S3Settings:
    """Return the settings of the S3 engine. Raises SettingsError if a value is missing or invalid."""
    remote = common.remote
    if not isinstance(remote, S3Endpoint):
        raise TypeError(remote)
    uri = S3Uri.parse(remote.uri)
    if uri is None or not uri.bucket or "@" in uri.bucket:
        raise SettingsError("The URI must be s3://bucket or s3://bucket/key, without credentials")
    unchecked = common.values.optional(remote.no_check_bucket_env)
    return S3Settings(
        common,
        remote,
        bucket=_bucket(uri.bucket, remote, common),
        key=uri.key,
        check_bucket=(unchecked or "").lower() not in ("true", "1"),
    )


def _bucket(name: str, remote: S3Endpoint, common: TransferSettings) -> Bucket:
    endpoint, values, authorities = None, common.values, common.config.ca_bundle
    if remote.endpoint_env:
        scheme, _, rest = values.required(remote.endpoint_env).rpartition("://")
        endpoint = f"{scheme or 'https'}://{rest.rstrip('/')}"
        _check_endpoint(endpoint, remote.endpoint_env)
    path_style = endpoint is not None if remote.path_style is None else remote.path_style
    if ":" in name and not path_style:
        raise SettingsError(f"The bucket {name} of a tenant cannot be in a host: it needs an endpoint, and path style")
    return Bucket(
        name=name,
        endpoint=endpoint,
        region=values.optional(remote.region_env) or DEFAULT_REGION,
        path_style=path_style,
        credentials=_credentials(remote, values),
        authorities=Path(authorities) if authorities else None,
        network=common.network,
    )


def _check_endpoint(endpoint: str, name: str) -> None:
    parts = hosts.endpoint(endpoint)
    if parts is None:
        raise SettingsError(
            f"The value of {name} must be http:// or https:// with a host and perhaps a port and a path, nothing more"
        )
    if "@" in parts.netloc:
        raise SettingsError(f"The value of {name} must not hold a user or password: there are options for the keys")


def _credentials(remote: S3Endpoint, values: Values) -> S3Credentials | None:
    if remote.anonymous:
        return None
    if not (remote.access_key_id_env and remote.secret_access_key_env):
        raise SettingsError(
            "An access key and a secret key are needed, or `anonymous`: roles of pods and nodes are not used"
        )
    return S3Credentials(
        values.required(remote.access_key_id_env),
        values.required(remote.secret_access_key_env, secret=True),
        values.optional(remote.session_token_env),
    )
