"""Settings of a transfer with a Git repository."""

import shutil
from dataclasses import dataclass

from stowplan.agents.copying.keys import PROTECTED
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.network.hosts import Hosts, is_host
from stowplan.agents.transfer.remotes.git.address import Address, GitCredentials, split
from stowplan.agents.transfer.settings import TransferSettings
from stowplan.schema.remotes.git import NO_REF, GitEndpoint

USERNAME = "oauth2"
"""Default user name for a token: most servers check only the token."""


@dataclass(frozen=True, slots=True)
class GitSettings:
    """Settings of a transfer with one Git repository."""

    common: TransferSettings
    remote: GitEndpoint
    address: Address
    credentials: GitCredentials | None
    """User name and password for the server; None for a public repository."""
    ref: str | None
    """Branch, tag or commit as in the spec; None for HEAD of the server."""

    @property
    def hosts(self) -> Hosts:
        """Hosts to which Git LFS and redirects may lead."""
        return Hosts(self.address.host, tuple(self.remote.hosts), "git.hosts")

    @property
    def path(self) -> str:
        """Path of the repository relative to the claim."""
        return "/".join(filter(None, (self.common.local.path.strip("/"), self.address.directory)))


def git_settings(common: TransferSettings) -> GitSettings:
    """Return the settings of the Git engine. Raises SettingsError if a value or `git` itself is missing or invalid."""
    remote = common.remote
    if not isinstance(remote, GitEndpoint):
        raise TypeError(remote)
    if shutil.which("git") is None:
        raise SettingsError("There is no git here: the image `git` of the agents has it")
    try:
        address, inside = split(common.values.required(remote.url_env))
    except ValueError as error:
        raise SettingsError(f"The value of {remote.url_env} is no address of a repository: {error}") from None
    name = address.directory
    if name in ("", ".", "..", ".git") or len(name.encode()) > 255 or (not common.local.path and name in PROTECTED):
        raise SettingsError(f"The last segment of {address.url} is no name for a directory")
    if wrong := [each for each in remote.hosts if not is_host(each)]:
        raise SettingsError(f"`git.hosts` must list `host` or `host:port` in small letters, but has {wrong[0]!r}")
    ref = common.values.optional(remote.ref_env)
    if ref is not None and NO_REF.search(ref):
        raise SettingsError(f"The value of {remote.ref_env} is neither a branch nor a tag nor a commit")
    return GitSettings(common, remote, address, _credentials(common, remote, inside), ref)


def _credentials(common: TransferSettings, remote: GitEndpoint, inside: GitCredentials | None) -> GitCredentials | None:
    """Return the credentials from the options, or else `inside`, those of the URL; None if there are none.

    A user name from the options also replaces that of the URL.
    """
    token = common.values.optional(remote.token_env, secret=True)
    given = common.values.optional(remote.username_env) or remote.username
    if token is not None:
        return GitCredentials(given or (inside.username if inside else "") or USERNAME, token)
    return GitCredentials(given or inside.username, inside.password) if inside else None
