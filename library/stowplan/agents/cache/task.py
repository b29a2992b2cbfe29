"""One attempt at a task."""

from collections.abc import Sequence

from stowplan.agents.log import Log
from stowplan.schema.exit_codes import ExitCode


def main(words: Sequence[str]) -> int:
    """Runs the task that the first word names; gives the exit code."""
    Log().error("There is no such task yet", task=words[0])
    return ExitCode.BAD_SPEC
