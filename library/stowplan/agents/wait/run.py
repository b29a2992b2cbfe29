"""The program that holds the copy of an output back until its training run has ended, and says whether to copy."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple, NoReturn, get_args

from stowplan.agents.cluster import access
from stowplan.agents.cluster.answers import Manifest, Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.conditions import because, true_conditions
from stowplan.agents.cluster.following import Live, follow
from stowplan.agents.cluster.patience import LATER, Patience
from stowplan.agents.cluster.place import ObjectAddress, job, job_set
from stowplan.agents.runtime.arguments import account_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.wait.outcome import WaitOutcome, end_after
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.run_end import SKIP_FILE, When

_ABOUT = """\
Waits until a training run has ended, which may take days. If its output is then not needed, because the run failed, it
writes a file that says so, and the agent that copies the output does nothing."""
_CODES = """\
exit codes: 0 the run has ended; 2 wrong usage; 3 no right to read the run; 10 a fault of this program; 143 ended by
SIGTERM before the end"""

_ENDS = {"Complete": True, "Completed": True, "Failed": False}
"""Conditions of a Job and of a JobSet that end a run, and whether it succeeded."""


class RunEnd(NamedTuple):
    """How a run ended. `message` says why it failed; empty if it succeeded."""

    succeeded: bool
    message: str = ""


class _Given(NamedTuple):
    run: ObjectAddress
    when: When
    """After which end the output is needed."""
    skip: Path
    """File to write if it is not needed."""
    account: Path


def main() -> NoReturn:
    """Wait for the end of the run, then end the process with the exit code of the wait."""
    given, log = _arguments(sys.argv[1:])
    log.info("Waiting for the end of the run", run=given.run.name)
    end_after(lambda: asyncio.run(_wait(given, log)), log)


async def _wait(given: _Given, log: Log) -> WaitOutcome:
    """Wait until the run has ended, whatever it does before: it may not exist yet, be suspended, or be made again."""
    patience = Patience(at_start=LATER)
    async with Client(access.from_pod(os.environ, given.account), "stowplan-wait-run") as client:
        async for news in follow(client, given.run):
            match news:
                case Refused() | Unreachable() as trouble:
                    log.warning("Cannot read the run: trying again", error=str(trouble))
                    if not patience.lasts(trouble, monotonic()):
                        return WaitOutcome(ExitCode.AUTH, "NoRight", f"No right to read {given.run.name}: {trouble}")
                case _:
                    patience.lasts(None, monotonic())
                    if isinstance(news, Live) and (end := end_of(news.object)):
                        return _ended(end, given)
    # `follow` has no end but that of its task.
    raise asyncio.CancelledError


def end_of(run: Manifest) -> RunEnd | None:
    """Return how the Job or JobSet with this manifest ended; None if it has not, or is suspended."""
    for kind, condition in true_conditions(run).items():
        if (succeeded := _ENDS.get(kind)) is not None:
            return RunEnd(succeeded, "" if succeeded else because(condition))
    return None


def _ended(end: RunEnd, given: _Given) -> WaitOutcome:
    """Return the outcome after the end of the run. Writes the file that says that the output is not needed, if so."""
    given.skip.unlink(missing_ok=True)
    message = f"{given.run.name} has ended"
    if not end.succeeded and given.when == "success":
        message = f"{given.run.name} failed, and this output is for success: {end.message}"
        given.skip.write_text(message, encoding="utf-8")
    return WaitOutcome(ExitCode.DONE, "RunEnded", message)


def _arguments(words: Sequence[str]) -> tuple[_Given, Log]:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    parser = account_parser("stowplan.agents.wait_run", about=_ABOUT, codes=_CODES)
    parser.add_argument("--namespace", required=True, help="of the run")
    run = parser.add_mutually_exclusive_group(required=True)
    run.add_argument("--job", metavar="NAME", help="the run is this Job")
    run.add_argument("--job-set", metavar="NAME", help="the run is this JobSet")
    parser.add_argument("--when", choices=get_args(When), default="success", help="default: %(default)s")
    parser.add_argument("--skip-file", type=Path, default=Path(SKIP_FILE), metavar="FILE", help="default: %(default)s")
    given = parser.parse_args(words)
    place = job(given.namespace, given.job) if given.job else job_set(given.namespace, given.job_set)
    log = Log(given.log_format, identity(os.environ))
    return _Given(place, given.when, given.skip_file, given.service_account), log
