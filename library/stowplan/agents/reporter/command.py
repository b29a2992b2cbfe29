"""The program: from arguments to an exit code."""

import asyncio
import os
import signal
import sys

from stowplan.agents.cluster.client import Client
from stowplan.agents.log import Log, identity
from stowplan.agents.reporter.probe import alive_file, beat
from stowplan.agents.reporter.reporting import Reporting
from stowplan.agents.reporter.settings import Settings, arguments, settings
from stowplan.schema.exit_codes import ExitCode
from stowplan.schema.field_managers import REPORTER

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
    except Exception as error:
        log.fault(error)
        return ExitCode.TRANSIENT
    return ExitCode.DONE


async def _run(told: Settings, log: Log) -> None:
    loop = asyncio.get_running_loop()
    terminated = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, terminated.set)
    async with Client(told.access, REPORTER) as client:
        work = [
            loop.create_task(Reporting(told, client, log).run()),
            loop.create_task(_beat()),
            loop.create_task(terminated.wait()),
        ]
        done, rest = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        await asyncio.wait(rest, timeout=2)
        for task in done:
            task.result()
        log.info("Ended by a signal")


async def _beat() -> None:
    """Says that the loop runs."""
    path = alive_file(os.environ)
    while True:
        beat(path)
        await asyncio.sleep(HEARTBEAT_SECONDS)
