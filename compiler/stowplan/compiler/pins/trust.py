"""Which servers get the user's credentials. Specs name servers, and whoever opens a pull request writes specs."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple
from urllib.request import getproxies, proxy_bypass

from stowplan.agents.transfer.network.hosts import HostOrigin, is_host, origin

OPTION = "--trust-host"
_HTTPS = 443


class CredentialKind(NamedTuple):
    """Credentials of one kind: their name for people, and the variable by which users name a server of their own."""

    name: str
    variable: str


@dataclass(frozen=True, slots=True)
class Trust:
    """Servers that the user lists on the command line, as `host:port`, or as `host` at port 443."""

    hosts: frozenset[str] = frozenset()

    def refusal(self, kind: CredentialKind, url: str, own: Iterable[str]) -> str:
        """Return why credentials may not be sent to `url`, and what allows it, as sentences; empty if they may be sent.

        `own` are URLs of the servers that the credentials are of, and of the user's own servers.
        """
        found = _origin(url)
        if found is None:
            return f"{kind.name} are not sent to {url}, which is no address of a server."
        scheme, name, port = found
        shown = name if port == _HTTPS else f"{name}:{port}"
        if scheme == "http" and not is_loopback(name):
            return f"{kind.name} are not sent to {shown} by plain http: use https."
        if found not in map(_origin, own) and shown not in self.hosts:
            ways = [f"`{OPTION} {shown}`"] if is_host(shown) else []
            allowed = " or ".join([*ways, f"the variable {kind.variable}"])
            return f"{kind.name} are not sent to {shown}, which only a spec names: {allowed} allows it."
        if scheme == "http" and _has_proxy(name):
            return f"{kind.name} are not sent to {shown} by plain http through a proxy: name {name} in NO_PROXY."
        return ""


def trusting(hosts: Iterable[str]) -> Trust:
    """Return the trust in the hosts that the user lists. Raises `ValueError`, with a sentence, for what is no host."""
    lower = [each.lower() for each in hosts]
    for each in lower:
        if not is_host(each):
            raise ValueError(f'"{each}" is no host. Write it without a scheme or path, such as hub.example.com:8443.')
    return Trust(frozenset(each.removesuffix(f":{_HTTPS}") for each in lower))


def is_loopback(host: str) -> bool:
    """Whether a host, without a port and without brackets, is this machine itself."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _has_proxy(host: str) -> bool:
    known = getproxies()
    return bool(known.get("http") or known.get("all")) and not proxy_bypass(host)


def _origin(url: str) -> HostOrigin | None:
    try:
        return origin(url)
    except ValueError:
        return None
