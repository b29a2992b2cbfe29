"""The program: from arguments to an exit code."""

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from typing import Any, TextIO, cast

from stowplan.agents.arguments import Arguments
from stowplan.agents.cluster import access
from stowplan.agents.log import Log, Value
from stowplan.agents.transfer.failure import StoppedError, TransferError, of_any
from stowplan.agents.transfer.last_words import leave
from stowplan.agents.transfer.outcome import Outcome
from stowplan.agents.transfer.redaction import RedactedStream, Redactor
from stowplan.agents.transfer.report import Reporter, place
from stowplan.agents.transfer.run import Run
from stowplan.agents.transfer.settings import Settings, SettingsError, arguments, read, secrets, settings
from stowplan.agents.transfer.stop import Stop
from stowplan.schema.agent_config import POD_ENV, RUN_ENV
from stowplan.schema.exit_codes import ExitCode
from stowplan.schema.transfer_config import TransferConfig

TERMINATED = 143
"""Exit code after SIGTERM: 128 and the signal's number."""

LOG_SECONDS = 10.0
"""Time between two lines of progress."""

END_SECONDS = 8.0
"""After a signal: what flushing and the last report may take before the process ends whatever they do."""


def main() -> int:
    """Runs until the outcome stands; gives the exit code."""
    given = arguments(sys.argv[1:])
    log = Log(given.log_format, _identity(os.environ))
    try:
        config = read(given.config)
        redact = Redactor(secrets(config, os.environ))
        # Tracebacks and warnings of libraries go there too.
        sys.stderr = sys.stdout = cast("TextIO", RedactedStream(sys.stderr, redact))
        log = Log(given.log_format, _identity(os.environ), sys.stderr)
        told = settings(config, os.environ)
    except SettingsError as error:
        log.error(str(error), reason="BadSpec", code=int(ExitCode.BAD_SPEC))  # noqa: TRY400 - not that logging
        return ExitCode.BAD_SPEC
    code = _transfer(given, told, redact, log)
    if code == TERMINATED:
        # Threads may wait for a server that never answers.
        sys.stderr.flush()
        os._exit(code)
    return code


def _transfer(given: Arguments, told: Settings, redact: Redactor, log: Log) -> int:
    stop = Stop()
    outcome = Outcome(told.run, os.environ.get(POD_ENV), told.config.report_phase)
    _watch_signals(stop)
    deadline = _watch_deadline(told.config, stop)
    reporter = _reporter(given, told, outcome, log)
    ticking = threading.Event()
    threading.Thread(target=_tick, args=(outcome, ticking, log), daemon=True).start()
    try:
        code, reason, message = _attempt(Run(told, outcome.progress, stop, log), stop)
    finally:
        ticking.set()
        if deadline:
            deadline.cancel()
    message = redact(message)
    outcome.end(code, reason, message)
    leave(code, reason, message, outcome.progress.snapshot().fields())
    if reporter:
        reporter.end()
    counts: dict[str, Any] = dict(outcome.progress.snapshot().fields())
    (log.error if code else log.info)(message, reason=reason, code=code, **counts)
    return code


def _attempt(run: Run, stop: Stop) -> tuple[int, str, str]:
    """Exit code, reason and sentence of the attempt."""
    try:
        return ExitCode.DONE, "Succeeded", run.all()
    except StoppedError:
        if stop.why == "deadline":
            return ExitCode.SOFT_DEADLINE, "SoftDeadline", "The time of this attempt is over: what it has is kept"
        return TERMINATED, "Terminated", "Ended by a signal: what is there is kept"
    except Exception as error:
        try:
            failure = of_any(error, "the transfer")
        except Exception:
            sys.stderr.write(traceback.format_exc())
            return ExitCode.TRANSIENT, "Fault", f"A fault of this program: {error!r}"
        if isinstance(failure, TransferError):
            return failure.code, failure.reason, str(failure)
        return ExitCode.TRANSIENT, "Changed", f"{error} changed while it was fetched"


def _watch_signals(stop: Stop) -> None:
    def end(*_: object) -> None:
        stop.set("signal")
        threading.Thread(target=_end_at_last, daemon=True).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)


def _end_at_last() -> None:
    time.sleep(END_SECONDS)
    os._exit(TERMINATED)


def _watch_deadline(config: TransferConfig, stop: Stop) -> threading.Timer | None:
    if config.soft_deadline_seconds is None:
        return None
    timer = threading.Timer(config.soft_deadline_seconds, stop.set, ("deadline",))
    timer.daemon = True
    timer.start()
    return timer


def _reporter(given: Arguments, told: Settings, outcome: Outcome, log: Log) -> Reporter | None:
    reach = access.from_pod(os.environ, given.account)
    if isinstance(reach, str):
        log.info("No reports to a cluster", reason=reach)
        return None
    target = told.config.target
    return Reporter(reach, place(target.namespace, target.name), outcome.status, log)


def _tick(outcome: Outcome, over: threading.Event, log: Log) -> None:
    while not over.wait(LOG_SECONDS):
        log.info("Transferring", **outcome.progress.snapshot().fields())


def _identity(environment: Mapping[str, str]) -> dict[str, Value]:
    found = {"run": environment.get(RUN_ENV), "pod": environment.get(POD_ENV)}
    return {key: value for key, value in found.items() if value}
