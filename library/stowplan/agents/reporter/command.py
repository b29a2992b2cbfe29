"""The program of the reporter."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

from stowplan.agents.cluster import main_loop
from stowplan.agents.cluster.client import Client
from stowplan.agents.reporter.reporting import Reporting
from stowplan.agents.runtime.arguments import Arguments, parse
from stowplan.agents.runtime.heartbeat import beat
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.settings import read_config
from stowplan.schema.agents.field_managers import REPORTER
from stowplan.schema.agents.reporter_config import ReporterConfig

HEARTBEAT_SECONDS = 10.0

_ABOUT = """\
Watches the Jobs, JobSets, StatefulSets and pods that were compiled from the custom resources of one namespace, and
writes their status. `probe` instead of options tells whether a reporter in the same pod is at work."""

_CODES = (
    "exit codes: 0 ended by a signal, or alive; 1 not alive; 2 wrong usage or configuration; 10 a fault of this program"
)


def main() -> int:
    """Run the reporter until a signal ends the process. Return the exit code after a failure."""
    return main_loop.run(arguments(sys.argv[1:]), settings, _run, REPORTER)


async def _run(config: ReporterConfig, client: Client, log: Log) -> NoReturn:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(Reporting(config, client, log).run())
        await _beat()


async def _beat() -> NoReturn:
    """Update the heartbeat file without end. It proves that the event loop runs."""
    while True:
        beat()
        await asyncio.sleep(HEARTBEAT_SECONDS)


def arguments(words: Sequence[str]) -> Arguments:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    return parse(words, "stowplan.agents.reporter", about=_ABOUT, codes=_CODES)


def settings(given: Arguments, _: Mapping[str, str]) -> ReporterConfig:
    """Read the configuration. Raises SettingsError if something is missing or wrong."""
    return read_config(given.config, ReporterConfig.model_validate_json)
