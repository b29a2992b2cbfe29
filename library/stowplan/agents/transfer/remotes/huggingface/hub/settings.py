"""Settings of a transfer with a Hugging Face Hub."""

import re
from dataclasses import dataclass

from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.network import hosts
from stowplan.agents.transfer.network.hosts import Hosts, is_host, origin
from stowplan.agents.transfer.remotes.huggingface.hub.environment import ENDPOINT_ENV, TOKEN_ENV, may_use_xet
from stowplan.agents.transfer.settings import TransferSettings, Values
from stowplan.schema.file_names import problem
from stowplan.schema.remotes.huggingface import HuggingFaceEndpoint

DEFAULT_ENDPOINT = "https://huggingface.co"
MESSAGE = "Upload files"
"""Default message of commits."""

XET_STREAM_MIB = 50
"""Memory in MiB that hf-xet uses for each part that it fetches at the same time, measured with parts of 16 MiB."""

_REPO = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class HuggingFaceSettings:
    """Settings of a transfer with one repository on a Hub."""

    common: TransferSettings
    remote: HuggingFaceEndpoint
    endpoint: str
    """URL of the Hub without `/` at its end."""
    repo: str
    """Name as `owner/name`, or `name` alone."""
    token: str | None
    revision: str | None
    """Branch, tag or commit; None for the default branch."""
    path_in_repo: str
    """Path in the repository to which an upload copies, without `/` at its beginning; empty for the root."""
    message: str
    """Message of the commits of an upload."""
    xet: bool
    """True if hf-xet may transfer files, False if only HTTP may be used."""

    @property
    def hosts(self) -> Hosts:
        """Hosts to which the Hub may redirect."""
        return Hosts(origin(self.endpoint), tuple(self.remote.hosts), "huggingface.hosts")

    @property
    def held_bytes(self) -> int:
        """Maximum bytes of small files that an upload has in memory. A commit's request needs four times as much."""
        return max(4, self.common.free_mib // 8) << 20

    @property
    def name(self) -> str:
        """String that differs for each source: another branch, tag or commit is another one."""
        return f"huggingface {self.endpoint} {self.remote.repo_type} {self.repo} {self.revision or ''}"

    @property
    def address(self) -> str:
        """URL of the repository's web page, for messages."""
        return f"{self.endpoint}/{self.prefix}{self.repo}"

    @property
    def prefix(self) -> str:
        """Segment before the repository's name in URLs of its files: `datasets/`, `spaces/`, or empty for a model."""
        return "" if self.remote.repo_type == "model" else f"{self.remote.repo_type}s/"

    @property
    def xet_streams(self) -> int:
        """Maximum number of parts that hf-xet may fetch at the same time."""
        return max(1, self.common.free_mib // XET_STREAM_MIB)

    @property
    def part_size(self) -> int:
        """Size in bytes of the parts of large files. A file up to this size is fetched in one request."""
        return self.common.config.part_size_mib << 20


def huggingface_settings(common: TransferSettings) -> HuggingFaceSettings:
    """Return the settings of the Hugging Face engine. Raises SettingsError if a value is missing or invalid."""
    remote, values = common.remote, common.values
    if not isinstance(remote, HuggingFaceEndpoint):
        raise TypeError(remote)
    repo = values.required(remote.repo_env)
    if not _REPO.fullmatch(repo) or ".." in repo:
        raise SettingsError(f"The value of {remote.repo_env} must be a repository, `owner/name`, but it is {repo!r}")
    if wrong := [each for each in remote.hosts if not is_host(each)]:
        raise SettingsError(
            f"`huggingface.hosts` must list `host` or `host:port` in small letters, but has {wrong[0]!r}"
        )
    given = values.environment
    token = remote.token_env or (TOKEN_ENV if TOKEN_ENV in given else None)
    return HuggingFaceSettings(
        common,
        remote,
        endpoint=_endpoint(values),
        repo=repo,
        token=values.optional(token),
        revision=values.optional(remote.revision_env),
        path_in_repo=_path_in_repo(values.optional(remote.path_in_repo_env) or "", remote.path_in_repo_env),
        message=values.optional(remote.commit_message_env) or MESSAGE,
        xet=may_use_xet(common),
    )


def _endpoint(values: Values) -> str:
    if ENDPOINT_ENV not in values.environment:
        return DEFAULT_ENDPOINT
    endpoint = (values.optional(ENDPOINT_ENV) or DEFAULT_ENDPOINT).rstrip("/")
    parts = hosts.endpoint(endpoint)
    if parts is None:
        raise SettingsError(f"The value of {ENDPOINT_ENV} must be the http:// or https:// URL of a Hub")
    if "@" in parts.netloc:
        raise SettingsError(f"The value of {ENDPOINT_ENV} must hold no user or password: there is the option `token`")
    return endpoint


def _path_in_repo(path: str, name: str | None) -> str:
    """Return a path of the option in the environment variable `name` as the Hub's command line takes it.

    `/` and `./` at the beginning are removed, and `.` means the root of the repository (empty). Raises SettingsError if
    the path is invalid.
    """
    plain = re.sub(r"^(\./|/)+", "", path)
    plain = "" if plain == "." else plain
    if plain and (found := problem(plain)):
        raise SettingsError(f"The value of {name} can be no path in a repository: {plain!r} {found}")
    return plain
