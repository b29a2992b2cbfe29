"""One attempt at a task: sync, warmup, rmr or clear."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TextIO, cast

from stowplan.agents.attempt.program import AttemptProgram
from stowplan.agents.attempt.redaction import RedactedStream, Redactor
from stowplan.agents.attempt.report import reach
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache import status
from stowplan.agents.cache.drivers.registry import operations_of
from stowplan.agents.cache.drivers.task_settings import arguments, read
from stowplan.agents.cache.drivers.work import TaskOutcome, TaskWork
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.agents import field_managers
from stowplan.schema.agents.agent_config import POD_ENV, RUN_ENV
from stowplan.schema.agents.exit_codes import ExitCode


def main(words: Sequence[str]) -> int:
    """Make one attempt at the task that the first argument names, and return the exit code."""
    given = arguments(words)
    try:
        config = read(given)
        operations = operations_of(config.driver)
    except SettingsError as error:
        log = Log(given.log_format, identity(os.environ))
        log.error(str(error), reason="BadSpec", code=int(ExitCode.BAD_SPEC))  # noqa: TRY400 - not that logging
        return ExitCode.BAD_SPEC
    redact = Redactor(operations.secrets(os.environ))
    # Tracebacks and warnings of libraries also go to standard error.
    sys.stderr = sys.stdout = cast("TextIO", RedactedStream(sys.stderr, redact))
    log = Log(given.log_format, identity(os.environ), sys.stderr)
    run = os.environ.get(RUN_ENV) or None
    outcome = TaskOutcome(run, os.environ.get(POD_ENV), task=given.task, partition=given.partition)
    work = TaskWork(outcome, Stop(), log, redact)
    task = operations.task(config, work, os.environ)
    program = AttemptProgram(given.task, outcome, work.stop, log, redact, config.soft_deadline_seconds)
    access, manager = reach(os.environ, given.account, log), field_managers.task(outcome.task, outcome.partition)
    own = partial(status.status, config, outcome)
    reporter = status.TaskReporter(access, config.target, own, manager, log) if access else None
    return program.run(task, reporter)
