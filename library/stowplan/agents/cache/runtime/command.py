"""The program `runtime` of the cache agent, which stays on a cluster node and reports on a mounted dataset."""

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from stowplan.agents.attempt.failure import StoppedError
from stowplan.agents.attempt.report import HEARTBEAT_SECONDS, StatusReporter, no_others, reach
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.runtime.figures import Figures, LatestFigures
from stowplan.agents.cache.runtime.reports import Sums, own
from stowplan.agents.cache.runtime.settings import RuntimeSettings, arguments, settings
from stowplan.agents.cache.runtime.watch import MountWatch
from stowplan.agents.runtime import heartbeat
from stowplan.agents.runtime.arguments import Arguments
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.agents import field_managers
from stowplan.schema.agents.exit_codes import TERMINATED, ExitCode

_WAKE_SECONDS = 10.0

FIRST_HEARTBEAT_SECONDS = 15.0
"""Maximum seconds between two reports of the cache pod with ordinal 0.

With each report this pod also reads the reports of the other cache pods and writes the sums over all of them. The short
interval lets the sums show a fault within a minute.
"""


def main(words: Sequence[str]) -> int:
    """Run until a signal, then end the process. Returns an exit code only if the settings are wrong.

    `words` are the arguments after `runtime`.
    """
    given = arguments(words)
    log = Log(given.log_format, identity(os.environ))
    try:
        parsed = settings(given, os.environ)
    except SettingsError as error:
        log.error(str(error), reason="BadSpec", code=int(ExitCode.BAD_SPEC))  # noqa: TRY400 - not that logging
        return ExitCode.BAD_SPEC
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set("signal"))
    return _run(given, parsed, stop, log)


def _run(given: Arguments, parsed: RuntimeSettings, stop: Stop, log: Log) -> int:
    record = LatestFigures(Figures(parsed.ordinal, parsed.node, parsed.space.budget_bytes))
    heartbeat.beat("Starting")
    mount = Path(parsed.config.mount_path)
    MountWatch(parsed.driver, mount, record, parsed.space, stop, log, parsed.pace).start()
    reporter = _reporter(given, parsed, record, log)
    with suppress(StoppedError):
        while reporter is None or reporter.works:
            stop.sleep(_WAKE_SECONDS)
    record.ended()
    if reporter:
        reporter.end()
    log.info("Ended", reason=stop.why or "failure")
    sys.stderr.flush()
    # A thread may wait for a process that the kernel cannot interrupt.
    os._exit(TERMINATED if stop.why == "signal" else ExitCode.TRANSIENT)


def _reporter(given: Arguments, parsed: RuntimeSettings, record: LatestFigures, log: Log) -> StatusReporter | None:
    access = reach(os.environ, given.account, log)
    if access is None:
        return None
    others = no_others if parsed.ordinal else Sums(parsed.config, record).all
    seconds = HEARTBEAT_SECONDS if parsed.ordinal else FIRST_HEARTBEAT_SECONDS
    manager = field_managers.cache(parsed.ordinal)
    return StatusReporter(access, parsed.config.target, partial(own, record), manager, log, others, seconds)
