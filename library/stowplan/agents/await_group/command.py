"""The program of the await agent."""

import sys

from stowplan.agents.await_group.settings import arguments, settings
from stowplan.agents.await_group.wait_loop import wait_for_end
from stowplan.agents.cluster import main_loop
from stowplan.schema.agents.field_managers import AWAIT


def main() -> int:
    """Run until the training group has ended and return the exit code."""
    return main_loop.run(arguments(sys.argv[1:]), settings, wait_for_end, AWAIT)
