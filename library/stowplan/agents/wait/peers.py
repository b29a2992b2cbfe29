"""The program that holds a pod of a training job back until the names of all its pods have addresses."""

import os
import socket
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NoReturn

from stowplan.agents.runtime.arguments import bare_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.wait.looks import result_of
from stowplan.agents.wait.outcome import WaitOutcome, end_after
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.peers import DEFAULT_TIMEOUT, LISTENING_SECONDS, Peers, parse

_ABOUT = f"""\
Waits until all pods of a training job have addresses, so that their programs find each other. Then it also waits until
servers with a port listen, but not longer than {LISTENING_SECONDS} s."""
_CODES = """\
exit codes: 0 all pods have addresses; 2 wrong usage; 10 one had none in time, or a fault of this program; 143 ended by
SIGTERM"""

_PAUSE = 1.0
"""Seconds between two lookups of a missing name. Each pod looks up one name at a time, since there may be many pods."""

_ROUNDS = 5
"""Number of lookups of each name. One of several name servers may still remember that a name was missing."""

_DENIAL_SECONDS = 5.0
"""Seconds for which name servers remember that a name was missing: the `ttl` of CoreDNS's plugin kubernetes."""

_CONNECT_SECONDS = 2.0

Tell = Callable[[str], None]
"""Receives what the search waits for, as the end of a sentence, after each attempt that failed."""


def main() -> NoReturn:
    """Wait for the peers, then end the process with the exit code of the wait."""
    peers, timeout, log = _arguments(sys.argv[1:])
    log.info("Waiting for peers", pods=sum(each.size for each in peers))
    end_after(lambda: _wait(peers, timeout, log), log)


def _wait(peers: Sequence[Peers], timeout: int, log: Log) -> WaitOutcome:
    missing = "a name service that answers"

    def check(seen: str | None, seconds: float) -> None:
        nonlocal missing
        missing = seen or missing
        if seconds >= timeout:
            raise TimeoutError(missing)

    def say(seen: str, seconds: int) -> None:
        log.info("Still waiting for peers", missing=seen, seconds=seconds)

    try:
        result_of(lambda tell: _find_names(peers, tell), check, say)
    except TimeoutError:
        message = f"Gave up after {timeout} s without {missing}. The status of that pod says why it does not run"
        return WaitOutcome(ExitCode.TRANSIENT, "PeersMissing", message)
    for server in result_of(lambda tell: _find_ports(peers, tell), lambda *_: None, say):
        log.warning("A server does not listen; the program starts without it", server=server)
    return WaitOutcome(ExitCode.DONE, "PeersReady", "All peers have addresses")


def _find_names(peers: Sequence[Peers], tell: Tell) -> None:
    """Return once all names have addresses. Never ends while one has none.

    If a name was missing first, the function then also waits until no name server remembers that. A name that was found
    may disappear again, since a pod that ended loses its name.
    """
    names = [name for each in peers for name in each.hosts()]
    for _ in range(_ROUNDS):
        if [name for name in names if _find(name, tell)]:
            time.sleep(_DENIAL_SECONDS)
            return


def _find_ports(peers: Sequence[Peers], tell: Tell) -> list[str]:
    """Return once all servers listen, or after `LISTENING_SECONDS`; return those that do not listen, as `host:port`."""
    end = time.monotonic() + LISTENING_SECONDS
    servers = [(host, each.port) for each in peers if each.port is not None for host in each.hosts()]
    return [f"{host}:{port}" for host, port in servers if not _listens_before(end, host, port, tell)]


def _find(name: str, tell: Tell) -> bool:
    """Return once the name has an address: whether it was missing at first."""
    missing = False
    while True:
        with suppress(OSError):
            if socket.getaddrinfo(name, None, type=socket.SOCK_STREAM):
                return missing
        missing = True
        tell(f"the address of {name}")
        time.sleep(_PAUSE)


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
        time.sleep(_PAUSE)


def _arguments(words: Sequence[str]) -> tuple[list[Peers], int, Log]:
    """Parse the command line and return the peers, the timeout in seconds, and the log.

    Raises SystemExit: 2 for wrong arguments, 0 after `--help`.
    """
    parser = bare_parser("stowplan.agents.wait_peers", about=_ABOUT, codes=_CODES)
    parser.add_argument("--timeout", type=int, default=DEFAULT_TIMEOUT, metavar="SECONDS", help="default: %(default)s")
    parser.add_argument("peers", nargs="+", metavar="PEERS", help="such as `train-worker-[0-2].train`")
    given = parser.parse_args(words)
    if given.timeout < 1:
        parser.error("--timeout: at least 1 second")
    try:
        return list(map(parse, given.peers)), given.timeout, Log(given.log_format, identity(os.environ))
    except ValueError as error:
        parser.error(str(error))
