"""Address of a repository, without its secrets."""

from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from stowplan.agents.transfer.network.hosts import PORTS, HostOrigin, origin
from stowplan.schema.remotes.git import repository_directory


@dataclass(frozen=True, slots=True)
class GitCredentials:
    """User name and password for a server."""

    username: str
    password: str


@dataclass(frozen=True, slots=True)
class Address:
    """http or https URL without user and password."""

    url: str

    @property
    def host(self) -> HostOrigin:
        """Scheme, host name in lower case, and port."""
        return origin(self.url)

    @property
    def directory(self) -> str:
        """Name of a clone's directory: the last segment of the URL without `.git`."""
        return repository_directory(self.url)

    @property
    def lfs(self) -> str:
        """URL of the Git LFS server unless `.lfsconfig` names another one."""
        base = self.url.rstrip("/")
        return f"{base if base.endswith('.git') else base + '.git'}/info/lfs"

    @property
    def identity(self) -> str:
        """String that is equal for all URLs of a repository: with a port, without `.git` and the last `/`."""
        scheme, name, port = self.host
        return f"{scheme}://{name}:{port}{urlsplit(self.url).path.rstrip('/').removesuffix('.git')}"

    def is_same(self, url: str) -> bool:
        """Return whether a URL, which may hold credentials, names the same repository."""
        try:
            other, _ = split(url)
        except ValueError:
            return False
        return other.identity == self.identity

    def below(self, url: str) -> "Address | None":
        """Return the address of a submodule whose URL is absolute, or relative to this one (`../other.git`).

        Returns None if it is no valid http or https URL.
        """
        if url.startswith(("./", "../")):
            parts = urlsplit(self.url)
            path = parts.path.rstrip("/")
            while url.startswith(("./", "../")):
                if url.startswith("../"):
                    path = path.rpartition("/")[0]
                url = url.partition("/")[2]
            url = parts._replace(path=f"{path}/{url}").geturl()
        try:
            return split(url)[0]
        except ValueError:
            return None


def split(url: str) -> tuple[Address, GitCredentials | None]:
    """Split a URL into the address and the credentials in it; the latter are None if the URL has none.

    Raises ValueError if the URL is invalid. The message omits the URL, which may hold a password.
    """
    parts = _parts(url)
    userinfo, at, host = parts.netloc.rpartition("@")
    user, _, password = userinfo.partition(":")
    address = Address(parts._replace(netloc=host).geturl())
    return address, GitCredentials(unquote(user), unquote(password)) if at else None


def _parts(url: str) -> SplitResult:
    """Parse the URL of a repository. Raises ValueError, without the URL, if it is invalid."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in PORTS and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        raise ValueError("it is no URL") from None
    if not good:
        raise ValueError("it must begin with https:// or http:// and name a host")
    if parts.query or parts.fragment or "\\" in url or any(character.isspace() for character in url):
        raise ValueError("it must hold no `?`, `#`, backslash or blank")
    if not parts.path.strip("/"):
        raise ValueError("it names no repository")
    return parts
