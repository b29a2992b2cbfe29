"""The program: from arguments to an exit code."""

import asyncio
import os
import sys

from stowplan.agents.await_group.settings import Settings, arguments, settings
from stowplan.agents.await_group.wait_loop import attend
from stowplan.agents.cluster.client import Client
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.until_signal import until_signal
from stowplan.schema.agents.exit_codes import TERMINATED, ExitCode
from stowplan.schema.agents.field_managers import AWAIT


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
    except BaseException as error:
        log.fault(error)
        return ExitCode.TRANSIENT


async def _run(told: Settings, log: Log) -> int:
    """Attends the group until its end or SIGTERM, whichever comes first."""
    async with Client(told.access, AWAIT) as client:
        outcome = await until_signal(attend(told, client, log))
        if outcome is None:
            log.info("Ended by a signal before the outcome")
        return TERMINATED if outcome is None else outcome
