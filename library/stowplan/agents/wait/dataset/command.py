"""The program that waits for a dataset: it parses the arguments, polls the dataset, and ends with an exit code."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, get_args

from pydantic import ValidationError

from stowplan.agents.runtime.arguments import bare_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.wait.dataset.patience import DatasetPatience
from stowplan.agents.wait.dataset.readiness import Poll, look
from stowplan.agents.wait.looks import result_of
from stowplan.agents.wait.outcome import WaitOutcome, end_after
from stowplan.schema.agents.wait_config import DEFAULT_TIMEOUT, RETRY, Until, WaitConfig

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 10.0
"""First and longest pause in seconds between two polls. The pause grows, since many pods may poll the same storage."""

_ABOUT = "Waits until a mounted dataset is ready, by the markers in it."
_CODES = """\
exit codes: 0 it is ready; 2 wrong usage; 3 it may not be read; 4 its sync or warmup failed for good; 10 a fault of this
program, or not ready in time with --retry; 12 it was not ready in time; 143 ended by SIGTERM"""


def main() -> NoReturn:
    """Wait until the outcome is certain, then end the process with its exit code."""
    config, log = _parsed(sys.argv[1:])
    log.info("Waiting for a dataset", dataset=config.dataset, until=config.until, path=config.path)
    end_after(lambda: _wait(config, log), log)


def _wait(config: WaitConfig, log: Log) -> WaitOutcome:
    patience = DatasetPatience(config)

    def keep_polling(tell: Callable[[Poll], None]) -> NoReturn:
        pause = _FIRST_PAUSE
        while True:
            tell(look(Path(config.path), config.until, config.revision))
            time.sleep(pause)
            pause = min(pause * 1.2, _LONGEST_PAUSE)

    def say(poll: Poll, seconds: int) -> None:
        log.info("Not ready yet", dataset=config.dataset, state=poll.state, detail=poll.text, seconds=seconds)

    return result_of(keep_polling, patience.after, say)


def _parsed(words: Sequence[str]) -> tuple[WaitConfig, Log]:
    """Parse the command line and return its settings and the log.

    Raises SystemExit: 2 for wrong arguments, 0 after `--help`.
    """
    parser = bare_parser("stowplan.agents.wait_dataset", about=_ABOUT, codes=_CODES)
    parser.add_argument("--dataset", required=True, metavar="NAME", help="for messages")
    parser.add_argument("--path", required=True, metavar="DIRECTORY", help="where it is mounted")
    parser.add_argument("--until", choices=get_args(Until), default="synced", help="default: %(default)s")
    parser.add_argument("--timeout", type=int, default=DEFAULT_TIMEOUT, metavar="SECONDS", help="default: %(default)s")
    parser.add_argument("--revision", metavar="REVISION", help="what its sync must have brought; default: anything")
    parser.add_argument(RETRY, action="store_true", help="another attempt may follow after the timeout")
    given = parser.parse_args(words)
    named = {key: value for key, value in vars(given).items() if key != "log_format"}
    log = Log(given.log_format, identity(os.environ))
    try:
        return WaitConfig.model_validate(named), log
    except ValidationError as error:
        parser.error("; ".join(f"--{each['loc'][0]}: {each['msg']}" for each in error.errors(include_url=False)))
