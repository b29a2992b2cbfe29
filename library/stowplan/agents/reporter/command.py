"""The program: from arguments to an exit code."""

import asyncio
import os
import sys

from stowplan.agents.cluster.client import Client
from stowplan.agents.reporter.probe import alive_file, beat
from stowplan.agents.reporter.reporting import Reporting
from stowplan.agents.reporter.settings import Settings, arguments, settings
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.until_signal import until_signal
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.field_managers import REPORTER

HEARTBEAT_SECONDS = 10.0


def main() -> int:
    """Runs until a signal; gives the exit code."""
    given = arguments(sys.argv[1:])
    log = Log(given.log_format, identity(os.environ))
    told = settings(given, os.environ)
    if isinstance(told, str):
        log.error(told)
        return ExitCode.BAD_SPEC
    try:
        asyncio.run(_run(told, log))
    except BaseException as error:
        log.fault(error)
        return ExitCode.TRANSIENT
    return ExitCode.DONE


async def _run(told: Settings, log: Log) -> None:
    async with Client(told.access, REPORTER) as client:
        await until_signal(Reporting(told, client, log).run(), _beat())
        log.info("Ended by a signal")


async def _beat() -> None:
    """Says that the loop runs."""
    path = alive_file(os.environ)
    while True:
        beat(path)
        await asyncio.sleep(HEARTBEAT_SECONDS)
