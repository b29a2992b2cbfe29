"""The program of the reporter: it parses the arguments, runs until a signal, and returns the exit code."""

import asyncio
import os
import sys

from stowplan.agents.cluster.client import Client
from stowplan.agents.reporter.probe import alive_file, beat
from stowplan.agents.reporter.reporting import Reporting
from stowplan.agents.reporter.settings import ReporterSettings, arguments, settings
from stowplan.agents.runtime import main_loop
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.until_signal import until_signal
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.field_managers import REPORTER

HEARTBEAT_SECONDS = 10.0


def main() -> int:
    """Run the reporter until a signal and return the exit code."""
    return main_loop.run(arguments(sys.argv[1:]), settings, _run)


async def _run(parsed: ReporterSettings, log: Log) -> int:
    async with Client(parsed.access, REPORTER) as client:
        await until_signal(Reporting(parsed, client, log).run(), _beat())
        log.info("Ended by a signal")
        return ExitCode.DONE


async def _beat() -> None:
    """Update the heartbeat file without end. It proves that the event loop runs."""
    path = alive_file(os.environ)
    while True:
        beat(path)
        await asyncio.sleep(HEARTBEAT_SECONDS)
