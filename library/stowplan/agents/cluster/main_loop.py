"""The main function of agents that run on an event loop and talk to the API server."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from stowplan.agents.cluster import access
from stowplan.agents.cluster.client import Client
from stowplan.agents.runtime.arguments import Arguments
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.agents.exit_codes import ExitCode

Settings = TypeVar("Settings")


def run(
    given: Arguments,
    settings: Callable[[Arguments, Mapping[str, str]], Settings],
    work: Callable[[Settings, Client, Log], Coroutine[Any, Any, int]],
    user_agent: str,
) -> int:
    """Read the settings with `settings`, run `work` to its end, and return its exit code.

    Returns `BAD_SPEC` (2) if the settings are wrong or this is no pod, and `TRANSIENT` (10) after any unforeseen error.
    Python's own exit code 1 is not used for errors, since it means that a training group failed. A signal ends the
    process at once (`runtime.entry`): these agents have nothing to clean up.
    """
    log = Log(given.log_format, identity(os.environ))
    try:
        read, reach = settings(given, os.environ), access.from_pod(os.environ, given.account)
    except SettingsError as error:
        log.error(str(error))  # noqa: TRY400 - not that logging
        return ExitCode.BAD_SPEC

    async def connected() -> int:
        async with Client(reach, user_agent) as client:
            return await work(read, client, log)

    try:
        return asyncio.run(connected())
    except BaseException as error:
        log.fault(error)
        return ExitCode.TRANSIENT
