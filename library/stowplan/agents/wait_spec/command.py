"""The program that holds a task back until other specs are done. It waits for as long as that takes."""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from stowplan.agents.cluster import access
from stowplan.agents.cluster.answers import Refused, Unreachable
from stowplan.agents.cluster.client import Client
from stowplan.agents.cluster.custom_resources import SERVED
from stowplan.agents.cluster.following import Live, News, follow
from stowplan.agents.runtime.arguments import ACCOUNT_DIRECTORY, bare_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.wait_spec.progress import View, look
from stowplan.schema.agents.exit_codes import ExitCode

_LOG_SECONDS = 60.0
"""Seconds between two log lines about an unchanged state."""

_ABOUT = "Waits until other specs are done, by the conditions in the status of their custom resources."
_CODES = "exit codes: 0 all are done; 2 wrong usage; 10 a fault of this program; 143 ended by SIGTERM"


class _Given(NamedTuple):
    namespace: str
    specs: list[tuple[str, str]]
    account: Path
    log: Log


def main() -> int:
    """Wait for all specs and return the exit code."""
    given = _arguments(sys.argv[1:])
    try:
        reach = access.from_pod(os.environ, given.account)
    except SettingsError as error:
        given.log.error(str(error))  # noqa: TRY400 - not that logging
        return ExitCode.BAD_SPEC
    try:
        asyncio.run(_wait(given, reach))
    except Exception as error:
        given.log.fault(error)
        return ExitCode.TRANSIENT
    return ExitCode.DONE


async def _wait(given: _Given, reach: access.Access) -> None:
    async with Client(reach, "stowplan-wait-spec") as client:
        for kind, name in given.specs:
            await _wait_for(kind, name, given, client)


async def _wait_for(kind: str, name: str, given: _Given, client: Client) -> None:
    last, at = "", 0.0
    async for news in follow(client, SERVED[kind].place(given.namespace, name)):
        view = _view(kind, news)
        if view.text != last or time.monotonic() - at >= _LOG_SECONDS:
            last, at = view.text, time.monotonic()
            given.log.info(
                "Done" if view.done else "Waiting", spec=f"{kind} {given.namespace}/{name}", detail=view.text
            )
        if view.done:
            return


def _view(kind: str, news: News) -> View:
    match news:
        case Live(found):
            return look(kind, found)
        case Refused() | Unreachable():
            return View(done=False, text=str(news))
        case _:
            return View(done=False, text="it is not there")


def _arguments(words: Sequence[str]) -> _Given:
    """Parse the command line. Raises SystemExit: 2 for wrong arguments, 0 after `--help`."""
    parser = bare_parser("stowplan.agents.wait_spec", about=_ABOUT, codes=_CODES)
    parser.add_argument("--namespace", required=True, metavar="NAME", help="of all specs")
    parser.add_argument("--spec", required=True, action="append", metavar="KIND/NAME", help="what must be done first")
    account = "holds `token` and `ca.crt`; default: %(default)s"
    parser.add_argument("--service-account", type=Path, default=ACCOUNT_DIRECTORY, metavar="DIRECTORY", help=account)
    given = parser.parse_args(words)
    pairs = [(kind, name) for kind, _, name in (each.partition("/") for each in given.spec)]
    for kind, name in pairs:
        if kind not in SERVED or not name:
            parser.error(f"--spec: {kind}/{name} names no custom resource")
    return _Given(given.namespace, pairs, given.service_account, Log(given.log_format, identity(os.environ)))
