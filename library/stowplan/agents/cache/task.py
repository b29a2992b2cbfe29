"""One attempt at a task: sync, warmup, rmr or clear."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO, cast

from stowplan.agents.attempt.program import AttemptProgram
from stowplan.agents.attempt.redaction import RedactedStream, Redactor
from stowplan.agents.attempt.report import StatusReporter, reach
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.cache.drivers.juicefs.credentials import secrets
from stowplan.agents.cache.drivers.juicefs.tasks import status
from stowplan.agents.cache.drivers.juicefs.tasks.clear import ClearTask
from stowplan.agents.cache.drivers.juicefs.tasks.remove import RemoveTask
from stowplan.agents.cache.drivers.juicefs.tasks.settings import TaskArguments, TaskConfig, arguments, read
from stowplan.agents.cache.drivers.juicefs.tasks.sync import SyncTask
from stowplan.agents.cache.drivers.juicefs.tasks.warmup import WarmupTask
from stowplan.agents.cache.drivers.juicefs.tasks.work import TaskOutcome, TaskWork
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.settings import SettingsError
from stowplan.schema.agents import field_managers
from stowplan.schema.agents.cache_config import POD_ENV, RUN_ENV, ClearConfig, RmrConfig, SyncConfig
from stowplan.schema.agents.exit_codes import ExitCode


def main(words: Sequence[str]) -> int:
    """Make one attempt at the task that the first argument names, and return the exit code."""
    given = arguments(words)
    redact = Redactor(secrets(os.environ))
    # Tracebacks and warnings of libraries also go to standard error.
    sys.stderr = sys.stdout = cast("TextIO", RedactedStream(sys.stderr, redact))
    log = Log(given.log_format, identity(os.environ), sys.stderr)
    try:
        config = read(given)
    except SettingsError as error:
        log.error(str(error), reason="BadSpec", code=int(ExitCode.BAD_SPEC))  # noqa: TRY400 - not that logging
        return ExitCode.BAD_SPEC
    run = os.environ.get(RUN_ENV) or None
    outcome = TaskOutcome(run, os.environ.get(POD_ENV), task=given.task, partition=given.partition)
    work = TaskWork(outcome, Stop(), log, redact)
    task = _task(config, work, os.environ)
    program = AttemptProgram(given.task, outcome, work.stop, log, redact, config.soft_deadline_seconds)
    return program.run(task, _reporter(given, config, outcome, log))


def _task(config: TaskConfig, work: TaskWork, environment: Mapping[str, str]) -> Callable[[], str]:
    if isinstance(config, SyncConfig):
        return SyncTask(config, work, environment).run
    if isinstance(config, RmrConfig):
        return RemoveTask(config, work).run
    if isinstance(config, ClearConfig):
        return ClearTask(config, work).run
    return WarmupTask(config, work).run


def _reporter(given: TaskArguments, config: TaskConfig, outcome: TaskOutcome, log: Log) -> StatusReporter | None:
    access = reach(os.environ, given.account, log)
    if access is None:
        return None
    manager = field_managers.task(outcome.task, outcome.partition)
    return status.TaskReporter(access, config.target, lambda found: status.status(config, outcome, found), manager, log)
