"""The program: from arguments to an exit code."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping

from stowplan.agents.await_group.attendance import attend
from stowplan.agents.await_group.settings import Settings, arguments, settings
from stowplan.agents.cluster.client import Client
from stowplan.agents.log import Log, Value
from stowplan.schema.agent_config import POD_ENV, RUN_ENV
from stowplan.schema.await_config import TERMINATED
from stowplan.schema.exit_codes import ExitCode

USER_AGENT = "stowplan-await"


def main() -> int:
    """Runs until the outcome stands; gives the exit code."""
    given = arguments(sys.argv[1:])
    log = Log(given.log_format, _identity(os.environ))
    told = settings(given, os.environ)
    if isinstance(told, str):
        log.error(told)
        return ExitCode.BAD_SPEC
    # Whatever goes wrong in here must not end with 1, which says that the group failed.
    try:
        return asyncio.run(_run(told, log))
    except Exception as error:
        log.error("A fault of this program", error=repr(error), where=_place(error))  # noqa: TRY400 - not that logging
        return ExitCode.TRANSIENT


async def _run(told: Settings, log: Log) -> int:
    """Attends the group until its end or SIGTERM, whichever comes first."""
    loop = asyncio.get_running_loop()
    terminated = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, terminated.set)
    async with Client(told.access, USER_AGENT) as client:
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


def _identity(environment: Mapping[str, str]) -> dict[str, Value]:
    found = {"run": environment.get(RUN_ENV), "pod": environment.get(POD_ENV)}
    return {key: value for key, value in found.items() if value}


def _place(error: BaseException) -> str:
    """Where an error came from, innermost group first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
