"""What a transfer is told: arguments, environment and configuration file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError

from stowplan.agents.arguments import Arguments, config_problem, parse
from stowplan.agents.transfer.endpoint import DEFAULT_REGION, Bucket
from stowplan.agents.transfer.signing import Credentials
from stowplan.schema.agent_config import RUN_ENV
from stowplan.schema.transfer_config import PvcEndpoint, S3Endpoint, TransferConfig

_ABOUT = """\
Copies between a directory and an S3 bucket: what is there already is left alone, what was begun goes on where it was.
Without a cluster it does the same on any machine, and reports in its log alone."""

_CODES = """\
exit codes: 0 done; 2 wrong usage or configuration; 3 no access; 4 not found; 5 a conflict that a person must solve;
10 may pass by itself; 11 what came was not what was sent; 12 soft deadline; 143 ended by SIGTERM"""

BASE_MIB = 60
"""What the program takes before it has begun."""

PART_LIMIT = 9_500
"""Parts of one object; S3 takes 10000."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the transfer needs to know."""

    config: TransferConfig
    upload: bool
    bucket: Bucket
    key: str
    """What the URI names in the bucket."""
    remote: S3Endpoint
    local: PvcEndpoint
    check_bucket: bool
    run: str | None

    @property
    def claim(self) -> Path:
        return Path(self.local.mount_path)

    @property
    def streams(self) -> int:
        """Requests of a download at one time: each holds about four chunks of one MiB."""
        return max(1, min(self.config.parallelism, (self.config.memory_mib - BASE_MIB) // 4))

    @property
    def upload_streams(self) -> int:
        """Requests of an upload at one time: each holds a part, and the client a copy."""
        return max(
            1, min(self.config.parallelism, (self.config.memory_mib - BASE_MIB) // (2 * self.config.part_size_mib))
        )

    def part_size(self, size: int) -> int:
        """Bytes of a part of an object of this size."""
        return max(self.config.part_size_mib << 20, -(-size // PART_LIMIT))


class SettingsError(Exception):
    """A sentence that says what is wrong, without the value of a secret."""


def arguments(words: Sequence[str]) -> Arguments:
    """Reads the command line; SystemExit 2 if it is wrong, 0 after `--help`."""
    return parse(words, "stowplan.agents.transfer", about=_ABOUT, codes=_CODES)


def read(path: Path) -> TransferConfig:
    """The configuration; SettingsError if it cannot be read or is wrong."""
    try:
        return TransferConfig.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise SettingsError(config_problem(path, error)) from None


def secrets(config: TransferConfig, environment: Mapping[str, str]) -> list[str]:
    """The values that no output may hold, as they are and without their trailing newlines."""
    names = [
        getattr(side, field)
        for side in (config.source, config.sink)
        for field in ("access_key_id_env", "secret_access_key_env", "session_token_env", "token_env")
        if getattr(side, field, None)
    ]
    values = [environment[name] for name in names if environment.get(name)]
    return [form for value in values for form in (value, value.strip("\r\n"), *value.split("\n"))]


def settings(config: TransferConfig, environment: Mapping[str, str]) -> Settings:
    """The settings; SettingsError if something is missing or cannot be."""
    upload = isinstance(config.source, PvcEndpoint)
    local, remote = (config.source, config.sink) if upload else (config.sink, config.source)
    if not (isinstance(local, PvcEndpoint) and isinstance(remote, S3Endpoint)):
        flow = f"{config.source.type} to {config.sink.type}"
        raise SettingsError(f"This program copies between pvc and s3, but the configuration says {flow}")
    if config.mirror and upload:
        raise SettingsError("`mirror` is for a source in S3 and a claim as its sink")
    if config.state is None and not upload:
        raise SettingsError("`state` is needed where the sink is a claim")
    if {"..", "."} & set(local.path.split("/")) or local.path.startswith("/"):
        raise SettingsError(f"The path in the claim must be relative and without `..`, but it is {local.path!r}")
    address = urlsplit(remote.uri)
    if address.scheme != "s3" or not address.netloc or "@" in address.netloc:
        raise SettingsError("The URI must be s3://bucket or s3://bucket/key, without credentials")
    values = _Values(environment)
    unchecked = values.optional(remote.no_check_bucket_env)
    return Settings(
        config=config,
        upload=upload,
        bucket=_bucket(address.netloc, remote, values, config.ca_bundle),
        # Not `address.path`: a `?` or `#` is a part of the key.
        key=remote.uri.removeprefix(f"s3://{address.netloc}").removeprefix("/"),
        remote=remote,
        local=local,
        check_bucket=(unchecked or "").lower() not in ("true", "1"),
        run=environment.get(RUN_ENV) or None,
    )


@dataclass(frozen=True, slots=True)
class _Values:
    """Options that came as environment variables."""

    environment: Mapping[str, str]

    def optional(self, name: str | None) -> str | None:
        """Without trailing newlines, which Secrets often end in; None if it is empty or was not given."""
        if name is None:
            return None
        if name not in self.environment:
            raise SettingsError(f"The environment variable {name} is not set")
        value = self.environment[name].rstrip("\r\n")
        if any(ord(character) < 32 or ord(character) == 127 for character in value):
            raise SettingsError(f"The value of {name} holds a newline or another control character")
        return value.strip() or None

    def required(self, name: str) -> str:
        value = self.optional(name)
        if value is None:
            raise SettingsError(f"The environment variable {name} is empty")
        return value


def _bucket(name: str, remote: S3Endpoint, values: _Values, authorities: str | None) -> Bucket:
    endpoint = values.required(remote.endpoint_env).rstrip("/") if remote.endpoint_env else None
    if endpoint:
        _check_endpoint(endpoint := endpoint if "://" in endpoint else f"https://{endpoint}", remote.endpoint_env or "")
    if authorities and not Path(authorities).is_file():
        raise SettingsError(f"The file of caBundle, {authorities}, is not there")
    return Bucket(
        name=name,
        endpoint=endpoint,
        region=values.optional(remote.region_env) or DEFAULT_REGION,
        path_style=endpoint is not None if remote.path_style is None else remote.path_style,
        credentials=_credentials(remote, values),
        authorities=Path(authorities) if authorities else None,
    )


def _check_endpoint(endpoint: str, name: str) -> None:
    try:
        parts = urlsplit(endpoint)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good, parts = False, urlsplit("")
    if not good or parts.path or parts.query or parts.fragment:
        raise SettingsError(
            f"The value of {name} must be http:// or https:// with a host and perhaps a port, nothing more"
        )
    if "@" in parts.netloc:
        raise SettingsError(f"The value of {name} must not hold a user or password: there are options for the keys")


def _credentials(remote: S3Endpoint, values: _Values) -> Credentials | None:
    if remote.anonymous:
        return None
    if not (remote.access_key_id_env and remote.secret_access_key_env):
        raise SettingsError("An access key and a secret key are needed, or `anonymous`")
    return Credentials(
        values.required(remote.access_key_id_env),
        values.required(remote.secret_access_key_env),
        values.optional(remote.session_token_env),
    )
