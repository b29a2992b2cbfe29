"""The HTTP proxy that the environment names for a server."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from stowplan.agents.attempt.failure import AttemptError
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True, slots=True)
class Proxy:
    """One that is asked by plain HTTP."""

    host: str
    """With its port, if it has one."""
    headers: Mapping[str, str] = field(repr=False)
    """What it wants to know of whoever asks."""


def proxy_of(scheme: str, host: str) -> Proxy | None:
    """By `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, as curl reads them; None for no proxy.

    AttemptError (2) for one of another kind.
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
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["proxy-authorization"] = f"Basic {base64.b64encode(pair.encode()).decode('ascii')}"
    return Proxy(parts.netloc.rpartition("@")[2], headers)
