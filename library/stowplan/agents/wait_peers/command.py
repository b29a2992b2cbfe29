"""The program that holds a pod of a training job back until the names of all its pods have addresses."""

import math
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, Queue
from typing import TypeVar

from stowplan.agents.attempt.termination_log import leave
from stowplan.agents.runtime.arguments import bare_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.wait_peers.search import Tell, find_names, find_ports
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.peers import DEFAULT_TIMEOUT, LISTENING_SECONDS, Peers, parse

_POLL_SECONDS = 1.0
"""Maximum seconds between two looks at the clock, and until a signal ends the process."""

_LOG_SECONDS = 60.0
"""Minimum seconds between two log lines about the wait."""

_ABOUT = f"""\
Waits until all pods of a training job have addresses, so that their programs find each other. Then it also waits until
servers with a port listen, but not longer than {LISTENING_SECONDS} s."""
_CODES = """\
exit codes: 0 all pods have addresses; 2 wrong usage; 10 one had none in time, or a fault of this program; 143 ended by
SIGTERM"""


T = TypeVar("T")


def main() -> int:
    """Wait for the peers, then end the process with the exit code of the wait. Never returns."""
    peers, timeout, log = _arguments(sys.argv[1:])
    log.info("Waiting for peers", pods=sum(each.size for each in peers))
    code, reason, message = _wait(peers, timeout, log)
    leave(code, reason, message, {})
    (log.error if code else log.info)(message, reason=reason, code=int(code))
    sys.stderr.flush()
    # A lookup that hangs must not delay the end of the process.
    os._exit(code)


def _wait(peers: Sequence[Peers], timeout: int, log: Log) -> tuple[ExitCode, str, str]:
    """Return the exit code, a reason in CamelCase, and a sentence for people."""
    try:
        _result(lambda tell: find_names(peers, tell), log, timeout)
        silent = _result(lambda tell: find_ports(peers, tell), log)
    except TimeoutError as missing:
        message = f"Gave up after {timeout} s without {missing}. The status of that pod says why it does not run"
        return ExitCode.TRANSIENT, "PeersMissing", message
    except Exception as error:
        log.fault(error)
        return ExitCode.TRANSIENT, "Fault", f"A fault of this program: {error!r}"
    for server in silent:
        log.warning("A server does not listen; the program starts without it", server=server)
    return ExitCode.DONE, "PeersReady", "All peers have addresses"


def _result(search: Callable[[Tell], T], log: Log, timeout: float = math.inf) -> T:
    """Run a search and return its result.

    Raises `TimeoutError` with what is missing after `timeout` seconds, and whatever the search raises. The search runs
    in a thread, since a lookup may hang.
    """
    events: Queue[Future[T] | str] = Queue()
    threading.Thread(target=_run, args=(search, events), daemon=True).start()
    began, logged, missing = time.monotonic(), 0.0, "a name service that answers"
    while True:
        try:
            event = events.get(timeout=_POLL_SECONDS)
        except Empty:
            event = missing
        if isinstance(event, Future):
            return event.result()
        missing, seconds = event, time.monotonic() - began
        if seconds >= timeout:
            raise TimeoutError(missing)
        if seconds - logged >= _LOG_SECONDS:
            logged = seconds
            log.info("Still waiting for peers", missing=missing, seconds=int(seconds))


def _run(search: Callable[[Tell], T], events: "Queue[Future[T] | str]") -> None:
    ended: Future[T] = Future()
    try:
        ended.set_result(search(events.put))
    except BaseException as error:
        ended.set_exception(error)
    events.put(ended)


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
