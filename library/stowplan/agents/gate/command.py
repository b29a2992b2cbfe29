"""The program of the gate: it parses the arguments, opens the run, and returns the exit code."""

import sys

from stowplan.agents.cluster.client import Client
from stowplan.agents.gate.opening_loop import tend
from stowplan.agents.gate.settings import GateSettings, arguments, settings
from stowplan.agents.runtime import main_loop
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.until_signal import until_signal
from stowplan.schema.agents.exit_codes import TERMINATED
from stowplan.schema.agents.field_managers import GATE


def main() -> int:
    """Run until the run is open and return the exit code."""
    return main_loop.run(arguments(sys.argv[1:]), settings, _run)


async def _run(parsed: GateSettings, log: Log) -> int:
    """Tend the gate until the run is open or SIGTERM, whichever comes first, and return the exit code."""
    async with Client(parsed.access, GATE) as client:
        outcome = await until_signal(tend(parsed, client, log))
        if outcome is None:
            log.info("Ended by a signal before the run was open")
        return TERMINATED if outcome is None else outcome
