"""Entry function of the transfer agent: it parses the arguments, runs one attempt and returns an exit code."""

import os
import sys
from pathlib import Path
from typing import Literal, TextIO, cast

from stowplan.agents.attempt.child_process import hide
from stowplan.agents.attempt.network import Network
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.program import AttemptProgram
from stowplan.agents.attempt.redaction import RedactedStream, Redactor
from stowplan.agents.attempt.report import StatusReporter, reach
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.attempt.termination_log import leave
from stowplan.agents.runtime.arguments import Arguments
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.runtime.settings import SettingsError
from stowplan.agents.transfer.engine import TransferWork, engine
from stowplan.agents.transfer.run import TransferRun
from stowplan.agents.transfer.settings import TransferSettings, arguments, read, secrets, settings, with_files
from stowplan.agents.transfer.status import DatasetStatus, of_cube
from stowplan.schema.agents import field_managers
from stowplan.schema.agents.agent_config import POD_ENV
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.transfer_config import PvcEndpoint


def main() -> int:
    """Run one attempt by `sys.argv` and `os.environ`; return its exit code. Standard streams are replaced."""
    given = arguments(sys.argv[1:])
    hide()
    log = Log(given.log_format, identity(os.environ))
    try:
        config = read(given.config)
        environment = with_files(os.environ, given.secrets)
        redact = Redactor(secrets(config, environment))
        # Tracebacks and warnings of libraries also go to standard error.
        sys.stderr = sys.stdout = cast("TextIO", RedactedStream(sys.stderr, redact))
        log = Log(given.log_format, identity(os.environ), sys.stderr)
        if config.skip_file and (file := Path(config.skip_file)).is_file():
            return _skipped(file.read_text(encoding="utf-8"), log)
        parsed = settings(config, environment, Network(given.allow_loopback))
        chosen = engine(parsed)
    except SettingsError as error:
        log.error(str(error), reason="BadSpec", code=int(ExitCode.BAD_SPEC))  # noqa: TRY400 - not that logging
        return ExitCode.BAD_SPEC
    outcome = AttemptOutcome(parsed.run, os.environ.get(POD_ENV))
    stop = Stop()
    program = AttemptProgram("transfer", outcome, stop, log, redact, config.soft_deadline_seconds)
    run = TransferRun(parsed, chosen, TransferWork(outcome, stop, log, redact, config.request_retries))
    return program.run(run.all, _reporter(given, parsed, outcome, log))


def _skipped(reason: str, log: Log) -> int:
    """Say that nothing is to be copied, and why, and return the exit code of success."""
    leave(ExitCode.DONE, "Skipped", reason, {})
    log.info(reason, reason="Skipped", code=int(ExitCode.DONE))
    return ExitCode.DONE


def _reporter(given: Arguments, parsed: TransferSettings, outcome: AttemptOutcome, log: Log) -> StatusReporter | None:
    """Return the thread that reports the status to the API server of Kubernetes; None if this is not in a pod.

    For a Training it is None too: the reporter writes the whole status, by the Jobs.
    """
    if parsed.config.target.kind == "Training":
        return None
    access = reach(os.environ, given.account, log)
    if access is None:
        return None
    target, phase = parsed.config.target, parsed.config.report_phase
    if target.kind == "DataCube":
        manager = field_managers.TRANSFER
        return StatusReporter(access, target, lambda _: of_cube(outcome, phase=phase), manager, log, probes=True)
    task: Literal["sync", "copy"] = "copy" if isinstance(parsed.config.source, PvcEndpoint) else "sync"
    said = DatasetStatus(target.kind, task, outcome, phase=phase)
    return StatusReporter(access, target, lambda _: said.fields(), said.manager, log)
