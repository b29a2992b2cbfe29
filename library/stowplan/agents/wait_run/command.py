"""The program that holds the copy of an output back until its training run has ended, and says whether to copy."""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from stowplan.agents.attempt.termination_log import leave
from stowplan.agents.cluster import access
from stowplan.agents.cluster.access import Access
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.place import ObjectAddress, job, job_set
from stowplan.agents.runtime.arguments import ACCOUNT_DIRECTORY, bare_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.runtime.until_signal import until_signal
from stowplan.agents.wait_run.run_end import NoRightError, RunEnd, wait
from stowplan.schema.agents.exit_codes import TERMINATED, ExitCode
from stowplan.schema.agents.run_end import SKIP_FILE, When

_NAME = "stowplan-wait-run"
_ABOUT = """\
Waits until a training run has ended, which may take days. If its output is then not needed, because the run failed, it
writes a file that says so, and the agent that copies the output does nothing."""
_CODES = """\
exit codes: 0 the run has ended; 2 wrong usage; 3 no right to read the run; 10 a fault of this program; 143 ended by
SIGTERM before the end"""


@dataclass(frozen=True, slots=True)
class WaitSettings:
    """What to wait for: the run, and after which end its output is needed. `skip` is the file to write if it is not."""

    access: Access
    run: ObjectAddress
    when: When
    skip: Path


def main() -> int:
    """Wait for the end of the run and return the exit code."""
    settings, log = _arguments(sys.argv[1:])
    log.info("Waiting for the end of the run", run=settings.run.name)
    try:
        end = asyncio.run(_wait(settings, log))
        settings.skip.unlink(missing_ok=True)
        if end is None:
            log.info("Ended by a signal before the run")
            return TERMINATED
        if reason := _needless(end, settings):
            settings.skip.write_text(reason, encoding="utf-8")
    except NoRightError as error:
        return _ended(ExitCode.AUTH, "NoRight", f"No right to read {settings.run.name}: {error}", log)
    except Exception as error:
        log.fault(error)
        return ExitCode.TRANSIENT
    return _ended(ExitCode.DONE, "RunEnded", reason or f"{settings.run.name} has ended", log)


def _ended(code: ExitCode, reason: str, message: str, log: Log) -> int:
    leave(code, reason, message, {})
    (log.error if code else log.info)(message, reason=reason, code=int(code))
    return code


def _needless(end: RunEnd, settings: WaitSettings) -> str:
    """Return why the output is not needed; empty if it is."""
    if end.succeeded or settings.when == "always":
        return ""
    return f"{settings.run.name} failed, and this output is for success: {end.message}"


async def _wait(settings: WaitSettings, log: Log) -> RunEnd | None:
    """Return how the run ended; None after a signal."""
    async with Client(settings.access, _NAME) as client:
        return await until_signal(wait(client, settings.run, log))


def _arguments(words: Sequence[str]) -> tuple[WaitSettings, Log]:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments or outside of a pod, 0 after `--help`."""
    parser = bare_parser("stowplan.agents.wait_run", about=_ABOUT, codes=_CODES)
    parser.add_argument("--namespace", required=True, help="of the run")
    run = parser.add_mutually_exclusive_group(required=True)
    run.add_argument("--job", metavar="NAME", help="the run is this Job")
    run.add_argument("--job-set", metavar="NAME", help="the run is this JobSet")
    parser.add_argument("--when", choices=get_args(When), default="success", help="default: %(default)s")
    parser.add_argument("--skip-file", type=Path, default=Path(SKIP_FILE), metavar="FILE", help="default: %(default)s")
    parser.add_argument("--service-account", type=Path, default=ACCOUNT_DIRECTORY, metavar="DIRECTORY")
    given = parser.parse_args(words)
    place = job(given.namespace, given.job) if given.job else job_set(given.namespace, given.job_set)
    try:
        reach = access.from_pod(os.environ, given.service_account)
    except SettingsError as error:
        parser.error(str(error))
    return WaitSettings(reach, place, given.when, given.skip_file), Log(given.log_format, identity(os.environ))
