"""The program of the gate."""

import sys

from stowplan.agents.cluster import main_loop
from stowplan.agents.gate.opening_loop import open_run
from stowplan.agents.gate.settings import arguments, settings
from stowplan.schema.agents.field_managers import GATE


def main() -> int:
    """Run until the run is open and return the exit code."""
    return main_loop.run(arguments(sys.argv[1:]), settings, open_run, GATE)
