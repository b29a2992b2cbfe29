"""The program: from arguments to an exit code."""

import asyncio
import os
import signal
import sys

from stowplan.agents.await_group.attendance import attend
from stowplan.agents.await_group.settings import Settings, arguments, settings
from stowplan.agents.cluster.client import Client
from stowplan.agents.log import Log, identity
from stowplan.schema.exit_codes import TERMINATED, ExitCode
from stowplan.schema.field_managers import AWAIT


def main() -> int:
    """Runs until the outcome stands; gives the exit code."""
    given = arguments(sys.argv[1:])
    log = Log(given.log_format, identity(os.environ))
    told = settings(given, os.environ)
    if isinstance(told, str):
        log.error(told)
        return ExitCode.BAD_SPEC
    # Whatever goes wrong in here must not end with 1, which says that the group failed.
    try:
        return asyncio.run(_run(told, log))
    except Exception as error:
        log.fault(error)
        return ExitCode.TRANSIENT


async def _run(told: Settings, log: Log) -> int:
    """Attends the group until its end or SIGTERM, whichever comes first."""
    loop = asyncio.get_running_loop()
    terminated = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, terminated.set)
    async with Client(told.access, AWAIT) as client:
        attending = loop.create_task(attend(told, client, log))
        ending = loop.create_task(terminated.wait())
        await asyncio.wait({attending, ending}, return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        if attending.done():
            return attending.result()
        log.info("Ended by a signal before the outcome")
        attending.cancel()
        await asyncio.wait({attending}, timeout=2)
        return TERMINATED
