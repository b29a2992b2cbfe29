"""The program that holds a task back until other specs are done. It waits for as long as that takes."""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from stowplan.agents.cluster import access
from stowplan.agents.cluster.answers import Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.conditions import condition
from stowplan.agents.cluster.following import Live, News, follow
from stowplan.agents.cluster.place import resource
from stowplan.agents.runtime.arguments import account_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.wait.outcome import WaitOutcome, end_after
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.kinds.table import KINDS

_LOG_SECONDS = 60.0
"""Seconds between two log lines about an unchanged state."""

_ABOUT = "Waits until other specs are done, by the conditions in the status of their custom resources."
_CODES = "exit codes: 0 all are done; 2 wrong usage; 10 a fault of this program; 143 ended by SIGTERM"


class _Given(NamedTuple):
    namespace: str
    specs: list[tuple[str, str]]
    """Kind and name of each."""
    account: Path


def main() -> NoReturn:
    """Wait for all specs, then end the process with the exit code of the wait."""
    given, log = _arguments(sys.argv[1:])
    end_after(lambda: asyncio.run(_wait(given, log)), log)


async def _wait(given: _Given, log: Log) -> WaitOutcome:
    async with Client(access.from_pod(os.environ, given.account), "stowplan-wait-spec") as client:
        for kind, name in given.specs:
            await _wait_for(kind, name, given.namespace, client, log)
    return WaitOutcome(ExitCode.DONE, "SpecsDone", "All specs are done")


async def _wait_for(kind: str, name: str, namespace: str, client: Client, log: Log) -> None:
    last, at, spec = "", 0.0, f"{kind} {namespace}/{name}"
    async for news in follow(client, resource(kind, namespace, name)):
        missing = _missing(kind, news)
        if not missing:
            log.info("Done", spec=spec, detail=f"it is {KINDS[kind].done}")
            return
        if missing != last or time.monotonic() - at >= _LOG_SECONDS:
            last, at = missing, time.monotonic()
            log.info("Waiting", spec=spec, detail=missing)


def _missing(kind: str, news: News) -> str:
    """Return why a spec of this kind is not done, for people; empty if it is done.

    Its condition counts only if it is about the newest version of the spec: an edited task is not done before its new
    run is. A spec that has failed is not done, but may be later, when somebody has mended it.
    """
    if isinstance(news, Refused | Unreachable):
        return str(news)
    if not isinstance(news, Live):
        return "it is not there"
    spec, wanted = news.object, KINDS[kind].done
    found = condition(spec, wanted)
    if not found:
        return "nothing is known of it yet"
    generation = found.get("observedGeneration", spec["status"].get("observedGeneration"))
    if generation is not None and generation != spec["metadata"].get("generation"):
        return "its newest version was not seen yet"
    if found.get("status") == "True":
        return ""
    return str(found.get("message") or found.get("reason") or f"it is not {wanted}")


def _arguments(words: Sequence[str]) -> tuple[_Given, Log]:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    parser = account_parser("stowplan.agents.wait_spec", about=_ABOUT, codes=_CODES)
    parser.add_argument("--namespace", required=True, metavar="NAME", help="of all specs")
    parser.add_argument("--spec", required=True, action="append", metavar="KIND/NAME", help="what must be done first")
    given = parser.parse_args(words)
    pairs = [(kind, name) for kind, _, name in (each.partition("/") for each in given.spec)]
    for kind, name in pairs:
        if kind not in KINDS or not name:
            parser.error(f"--spec: {kind}/{name} names no custom resource")
    return _Given(given.namespace, pairs, given.service_account), Log(given.log_format, identity(os.environ))
