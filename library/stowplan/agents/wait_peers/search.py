"""Search for the pods of a training job: lookups of their names, and connections to the ports of its servers."""

import socket
import time
from collections.abc import Callable, Sequence

from stowplan.schema.agents.peers import LISTENING_SECONDS, Peers

PAUSE = 1.0
"""Seconds between two lookups of a missing name. Each pod looks up one name at a time, since there may be many pods."""

ROUNDS = 5
"""Number of lookups of each name. One of several name servers may still remember that a name was missing."""

DENIAL_SECONDS = 5.0
"""Seconds for which name servers remember that a name was missing: the `ttl` of CoreDNS's plugin kubernetes."""

_CONNECT_SECONDS = 2.0

Tell = Callable[[str], None]
"""Receives what the search waits for, as the end of a sentence, after each attempt that failed."""


def find_names(peers: Sequence[Peers], tell: Tell) -> None:
    """Return once all names have addresses. Never ends while one has none.

    If a name was missing first, the function then also waits until no name server remembers that. A name that was found
    may disappear again, since a pod that ended loses its name.
    """
    names = [name for each in peers for name in each.hosts()]
    for _ in range(ROUNDS):
        if [name for name in names if _find(name, tell)]:
            time.sleep(DENIAL_SECONDS)
            return


def find_ports(peers: Sequence[Peers], tell: Tell) -> list[str]:
    """Return once all servers listen, or after `LISTENING_SECONDS`; return those that do not listen, as `host:port`."""
    end = time.monotonic() + LISTENING_SECONDS
    servers = [(host, each.port) for each in peers if each.port is not None for host in each.hosts()]
    return [f"{host}:{port}" for host, port in servers if not _listens_before(end, host, port, tell)]


def _find(name: str, tell: Tell) -> bool:
    """Return once the name has an address: whether it was missing at first."""
    missing = False
    while not has_address(name):
        missing = True
        tell(f"the address of {name}")
        time.sleep(PAUSE)
    return missing


def has_address(name: str) -> bool:
    """Return whether the name service of this pod has an address for a name now."""
    try:
        return bool(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM))
    except OSError:
        return False


def _listens_before(end: float, host: str, port: int, tell: Tell) -> bool:
    while True:
        try:
            socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
        except OSError:
            tell(f"a server at {host}:{port}")
        else:
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(PAUSE)
