"""Start of a program. This module imports almost nothing, since signals must end the program before slow imports."""

import os
import signal
import sys
from importlib import import_module
from typing import NoReturn

from stowplan.schema.agents.exit_codes import TERMINATED


def start(module: str, code: int = TERMINATED) -> NoReturn:
    """Run the function `main` of a module of `stowplan.agents`, and end the process with the exit code that it returns.

    `module` is its name below `stowplan.agents`, such as `gate.opening_loop`. SIGTERM and SIGINT end the process at
    once with the exit code `code`. A program with work to clean up replaces this handler before that work begins.
    Without any handler, the first process of a container would ignore the signal.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(code))
    sys.exit(import_module(f"stowplan.agents.{module}").main())
