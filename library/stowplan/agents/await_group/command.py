"""The program of the await agent: it parses the arguments, waits, and returns the exit code."""

import sys

from stowplan.agents.await_group.settings import AwaitSettings, arguments, settings
from stowplan.agents.await_group.wait_loop import attend
from stowplan.agents.cluster.client import Client
from stowplan.agents.runtime import main_loop
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.until_signal import until_signal
from stowplan.schema.agents.exit_codes import TERMINATED
from stowplan.schema.agents.field_managers import AWAIT


def main() -> int:
    """Run until the training group has ended and return the exit code."""
    return main_loop.run(arguments(sys.argv[1:]), settings, _run)


async def _run(parsed: AwaitSettings, log: Log) -> int:
    """Watch the training group until its end or SIGTERM, whichever comes first, and return the exit code."""
    async with Client(parsed.access, AWAIT) as client:
        outcome = await until_signal(attend(parsed, client, log))
        if outcome is None:
            log.info("Ended by a signal before the outcome")
        return TERMINATED if outcome is None else outcome
