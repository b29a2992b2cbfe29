"""Address of a repository, without its secrets."""

from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from stowplan.agents.transfer.network.hosts import PORTS, HostOrigin, Hosts, origin
from stowplan.schema.agents.transfer_config import repository_directory


@dataclass(frozen=True, slots=True)
class Credentials:
    """User name and password for a server."""

    username: str
    password: str


@dataclass(frozen=True, slots=True)
class Address:
    """http or https URL without user and password."""

    url: str

    @property
    def host(self) -> HostOrigin:
        """Scheme, name in lower case and port."""
        return origin(self.url)

    @property
    def root(self) -> str:
        """URL without its path."""
        return urlsplit(self.url)._replace(path="").geturl()

    @property
    def directory(self) -> str:
        """Where a clone is, below the path in the claim."""
        return repository_directory(self.url)

    @property
    def lfs(self) -> str:
        """Default URL of Git LFS."""
        base = self.url.rstrip("/")
        return f"{base if base.endswith('.git') else base + '.git'}/info/lfs"

    def trusts(self, host: HostOrigin) -> bool:
        """Return whether credentials for this address may go to a host: the same host, or its https at the default
        port.
        """
        return Hosts(self.host).is_own(host)

    def is_same(self, url: str) -> bool:
        """Return whether a URL, which may hold credentials, names the same repository."""
        try:
            other, _ = split(url)
        except ValueError:
            return False
        return _comparable(other.url) == _comparable(self.url)

    def below(self, url: str) -> "Address | None":
        """Return the address of a submodule, which may be relative (`../other.git`); None for another scheme."""
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


def split(url: str) -> tuple[Address, Credentials | None]:
    """Split a URL into address and credentials. Raises ValueError, without the URL, if the URL is invalid."""
    parts = _parts(url)
    userinfo, at, host = parts.netloc.rpartition("@")
    user, _, password = userinfo.partition(":")
    address = Address(parts._replace(netloc=host).geturl())
    return address, Credentials(unquote(user), unquote(password)) if at else None


def _parts(url: str) -> SplitResult:
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


def _comparable(url: str) -> str:
    """The same string for all URLs of one repository."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix(".git")
    scheme, name, port = Address(url).host
    return f"{scheme}://{name}:{port}{path}"
