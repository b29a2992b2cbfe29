"""Entry of `python -m stowplan.agents.reporter`, and of its probe: `python -m stowplan.agents.reporter probe`."""

import sys

from stowplan.agents.runtime import heartbeat
from stowplan.agents.runtime.entry import start
from stowplan.schema.agents.exit_codes import ExitCode

if __name__ == "__main__":
    if sys.argv[1:] == ["probe"]:
        sys.exit(heartbeat.probe("reporter"))
    start("reporter.command", ExitCode.DONE)
