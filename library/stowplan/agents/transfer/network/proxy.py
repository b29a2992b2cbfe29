"""HTTP proxy for a server, from environment variables."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.network.hosts import PORTS
from stowplan.schema.agents.exit_codes import ExitCode

_WITH_PORT = re.compile(r"(\[[^\]]*\]|[^:]*):([0-9]+)")


@dataclass(frozen=True, slots=True)
class Proxy:
    """Proxy to which clients connect by HTTP without TLS."""

    host: str
    """Host, with its port if it has one."""
    headers: Mapping[str, str] = field(repr=False)
    """Headers that identify the client to the proxy."""


def proxy_of(scheme: str, host: str) -> Proxy | None:
    """Return the proxy for a server by the environment variables that `proxy_url` reads; None for no proxy.

    `scheme` is that of the server, `http` or `https`; `host` may include a port. Raises AttemptError (exit code 2) if
    the proxy's own URL is not http.
    """
    url = proxy_url(scheme, host)
    if url is None:
        return None
    parts = urlsplit(url)
    if parts.scheme != "http":
        message = f"The proxy for {scheme} is of the kind {parts.scheme}: only those that are asked by http are known"
        raise AttemptError(ExitCode.BAD_SPEC, "BadProxy", message)
    headers = {}
    if parts.username is not None:
        # Basic authentication (RFC 7617).
        given = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["proxy-authorization"] = f"Basic {b64encode(given.encode()).decode('ascii')}"
    return Proxy(host_of(url), headers)


def proxy_url(scheme: str, host: str) -> str | None:
    """Return the URL of the proxy for a server, perhaps with a password; None for no proxy.

    `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` have the same meaning as for curl. `scheme` is that of the
    server; `host` may include a port.
    """
    known = getproxies()
    address = known.get(scheme) or known.get("all")
    if not address or _is_excluded(scheme, host, known.get("no", "")):
        return None
    return address if "://" in address else f"http://{address}"


def host_of(url: str) -> str:
    """Return the host of a proxy's URL, with its port if it has one, and without a password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _is_excluded(scheme: str, host: str, listed: str) -> bool:
    """Return whether a list as in `NO_PROXY` has a server, by its name as it is written: no name is resolved."""
    parts = urlsplit(f"//{host}")
    name, port = (parts.hostname or "").rstrip("."), parts.port or PORTS.get(scheme)
    return any(_excludes(each, name, port) for each in re.split(r"[,\s]+", listed.lower()) if each)


def _excludes(entry: str, name: str, port: int | None) -> bool:
    """Return whether an entry is for a server: `*`, a domain with what is below it, an address, or a network.

    Domains and addresses may have a port: `[::1]:443`.
    """
    if entry == "*" or _is_in(name, entry):
        return True
    if with_port := _WITH_PORT.fullmatch(entry):
        if int(with_port[2]) != port:
            return False
        entry = with_port[1]
    domain = entry.strip("[]").removeprefix("*").strip(".")
    return name == domain or name.endswith(f".{domain}") or _is_in(name, domain)


def _is_in(name: str, network: str) -> bool:
    """Return whether a host is an address in a network; False if either is a name."""
    try:
        return ip_address(name) in ip_network(network.replace("[", "").replace("]", ""), strict=False)
    except ValueError:
        return False
