"""The program that waits for a dataset: it parses the arguments, polls the dataset, and ends with an exit code."""

import os
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import get_args

from pydantic import ValidationError

from stowplan.agents.attempt.termination_log import leave
from stowplan.agents.runtime.arguments import bare_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.wait_dataset.patience import Patience, WaitOutcome
from stowplan.agents.wait_dataset.readiness import View, look
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.wait_config import DEFAULT_TIMEOUT, RETRY, Until, WaitConfig

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 10.0
"""First and longest pause in seconds between two polls. The pause grows, since many pods may poll the same storage."""

_TELL_SECONDS = 60.0
"""Minimum seconds between two log lines about the wait."""

_ABOUT = "Waits until a mounted dataset is ready, by the markers in it."
_CODES = """\
exit codes: 0 it is ready; 2 wrong usage; 3 it may not be read; 4 its sync or warmup failed for good; 10 a fault of this
program, or not ready in time with --retry; 12 it was not ready in time; 143 ended by SIGTERM"""


def main() -> int:
    """Wait until the outcome is certain, then end the process with its exit code. Never returns."""
    config, log = _parsed(sys.argv[1:])
    log.info("Waiting for a dataset", dataset=config.dataset, until=config.until, path=config.path)
    outcome = _wait(config, log)
    leave(outcome.code, outcome.reason, outcome.message, {})
    (log.error if outcome.code else log.info)(outcome.message, reason=outcome.reason, code=int(outcome.code))
    sys.stderr.flush()
    # A poll that hangs must not delay the end of the process.
    os._exit(outcome.code)


def _wait(config: WaitConfig, log: Log) -> WaitOutcome:
    began, logged_at, patience = time.monotonic(), -_TELL_SECONDS, Patience(config)
    looks = _looks(config)
    while True:
        try:
            view: View | BaseException | None = looks.get(timeout=_FIRST_PAUSE)
        except Empty:
            view = None
        if isinstance(view, BaseException):
            log.fault(view)
            return WaitOutcome(ExitCode.TRANSIENT, "Fault", f"A fault of this program: {view!r}")
        now = time.monotonic() - began
        outcome = patience.after(view, now) if view else patience.late(now)
        if outcome:
            return outcome
        if view and now - logged_at >= _TELL_SECONDS:
            logged_at = now
            log.info("Not ready yet", dataset=config.dataset, state=view.state, detail=view.text, seconds=int(now))


def _looks(config: WaitConfig) -> "Queue[View | BaseException]":
    """Start a thread that polls the dataset again and again, and return the queue with the results.

    A poll of a broken mount may hang forever, hence the thread. An exception in the queue means that the thread has
    ended.
    """
    found: Queue[View | BaseException] = Queue()

    def run() -> None:
        pause = _FIRST_PAUSE
        try:
            while True:
                found.put(look(Path(config.path), config.until, config.revision))
                time.sleep(pause)
                pause = min(pause * 1.2, _LONGEST_PAUSE)
        except BaseException as error:
            found.put(error)

    threading.Thread(target=run, daemon=True).start()
    return found


def _parsed(words: Sequence[str]) -> tuple[WaitConfig, Log]:
    """Parse the command line and return its settings and the log.

    Raises SystemExit: 2 for wrong arguments, 0 after `--help`.
    """
    parser = bare_parser("stowplan.agents.wait_dataset", about=_ABOUT, codes=_CODES)
    parser.add_argument("--dataset", required=True, metavar="NAME", help="for messages")
    parser.add_argument("--path", required=True, metavar="DIRECTORY", help="where it is mounted")
    parser.add_argument("--until", choices=get_args(Until), default="synced", help="default: %(default)s")
    parser.add_argument("--timeout", type=int, default=DEFAULT_TIMEOUT, metavar="SECONDS", help="default: %(default)s")
    parser.add_argument("--revision", metavar="REVISION", help="what its sync must have brought; default: anything")
    parser.add_argument(RETRY, action="store_true", help="another attempt may follow after the timeout")
    given = parser.parse_args(words)
    named = {key: value for key, value in vars(given).items() if key != "log_format"}
    log = Log(given.log_format, identity(os.environ))
    try:
        return WaitConfig.model_validate(named), log
    except ValidationError as error:
        parser.error("; ".join(f"--{each['loc'][0]}: {each['msg']}" for each in error.errors(include_url=False)))
