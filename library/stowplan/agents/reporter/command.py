"""The program of the reporter."""

import asyncio
import os
import sys
from typing import NoReturn

from stowplan.agents.cluster import main_loop
from stowplan.agents.cluster.client import Client
from stowplan.agents.reporter.probe import alive_file, beat
from stowplan.agents.reporter.reporting import Reporting
from stowplan.agents.reporter.settings import ReporterSettings, arguments, settings
from stowplan.agents.runtime.log import Log
from stowplan.schema.agents.field_managers import REPORTER

HEARTBEAT_SECONDS = 10.0


def main() -> int:
    """Run the reporter until a signal ends the process. Return the exit code after a failure."""
    return main_loop.run(arguments(sys.argv[1:]), settings, _run, REPORTER)


async def _run(parsed: ReporterSettings, client: Client, log: Log) -> NoReturn:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(Reporting(parsed, client, log).run())
        await _beat()


async def _beat() -> NoReturn:
    """Update the heartbeat file without end. It proves that the event loop runs."""
    path = alive_file(os.environ)
    while True:
        beat(path)
        await asyncio.sleep(HEARTBEAT_SECONDS)
