"""The main function of agents that run on an event loop."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from stowplan.agents.runtime.arguments import Arguments
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.agents.exit_codes import ExitCode

Settings = TypeVar("Settings")


def run(
    given: Arguments,
    settings: Callable[[Arguments, Mapping[str, str]], Settings],
    work: Callable[[Settings, Log], Coroutine[Any, Any, int]],
) -> int:
    """Read the settings with `settings`, run `work` to its end, and return its exit code.

    Returns `BAD_SPEC` (2) if the settings are wrong, and `TRANSIENT` (10) after any unforeseen error. Python's own exit
    code 1 is not used for errors, since it means that a training group failed.
    """
    log = Log(given.log_format, identity(os.environ))
    try:
        read = settings(given, os.environ)
    except SettingsError as error:
        log.error(str(error))  # noqa: TRY400 - not that logging
        return ExitCode.BAD_SPEC
    try:
        return asyncio.run(work(read, log))
    except BaseException as error:
        log.fault(error)
        return ExitCode.TRANSIENT
