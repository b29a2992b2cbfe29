"""How a wait ends: its outcome, which it leaves for people, and its exit code."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from stowplan.agents.attempt.termination_log import leave
from stowplan.agents.runtime.log import Log
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.agents.exit_codes import ExitCode


@dataclass(frozen=True, slots=True)
class WaitOutcome:
    """Result of a wait."""

    code: ExitCode
    reason: str
    """One word in CamelCase."""
    message: str
    """A sentence for people, without a full stop."""


def end_after(wait: Callable[[], WaitOutcome], log: Log) -> NoReturn:
    """Wait, write the outcome to the log and the termination message, and end the process with its exit code.

    The exit code is BAD_SPEC (2) if `wait` raises SettingsError, and TRANSIENT (10) if it raises anything else.
    """
    try:
        outcome = wait()
    except SettingsError as error:
        outcome = WaitOutcome(ExitCode.BAD_SPEC, "BadSpec", str(error))
    except BaseException as error:
        log.fault(error)
        outcome = WaitOutcome(ExitCode.TRANSIENT, "Fault", f"A fault of this program: {error!r}")
    leave(outcome.code, outcome.reason, outcome.message, {})
    (log.error if outcome.code else log.info)(outcome.message, reason=outcome.reason, code=int(outcome.code))
    sys.stderr.flush()
    # A look that hangs must not delay the end of the process.
    os._exit(outcome.code)
