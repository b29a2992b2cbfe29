"""HTTP proxy for a server, from environment variables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.transfer.network.basic_auth import basic_auth
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True, slots=True)
class Proxy:
    """Proxy to which clients connect by HTTP without TLS."""

    host: str
    """Host, with its port if it has one."""
    headers: Mapping[str, str] = field(repr=False)
    """Headers that identify the client to the proxy."""


def proxy_of(scheme: str, host: str) -> Proxy | None:
    """Return the proxy for a server, by `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`; None for no proxy.

    The variables have the same meaning as for curl. `scheme` is that of the server; `host` may include a port.

    Raises AttemptError (exit code 2) if the proxy's own URL is not http.
    """
    known = getproxies()
    address = known.get(scheme) or known.get("all")
    if not address or proxy_bypass(host):
        return None
    parts = urlsplit(address if "://" in address else f"http://{address}")
    if parts.scheme != "http":
        message = f"The proxy for {scheme} is of the kind {parts.scheme}: only those that are asked by http are known"
        raise AttemptError(ExitCode.BAD_SPEC, "BadProxy", message)
    headers = {}
    if parts.username is not None:
        headers["proxy-authorization"] = basic_auth(unquote(parts.username), unquote(parts.password or ""))
    return Proxy(parts.netloc.rpartition("@")[2], headers)
