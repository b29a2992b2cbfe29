"""The sidecar of each pod of a training job that has a lineage of checkpoints.

The sidecar of the pod with index 0 takes the lock of the lineage and holds it until it gets SIGTERM, which Kubernetes
sends it once the trainer has ended. In the other pods the sidecar does nothing: only its probe matters.
"""

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from pydantic import ValidationError

from stowplan.agents.attempt.failure import AttemptError, StoppedError, of_any
from stowplan.agents.attempt.interruption import interruptible
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.arguments import bare_parser
from stowplan.agents.runtime.log import Log, identity
from stowplan.agents.wait.lineage.holder import hold
from stowplan.agents.wait.outcome import WaitOutcome, end_after
from stowplan.schema.agents.agent_config import RUN_ENV
from stowplan.schema.agents.exit_codes import ExitCode
from stowplan.schema.agents.lineage import LineageConfig
from stowplan.schema.agents.lineage_state import RANK_ENV

_RELEASE_SECONDS = 6.0
"""Maximum seconds from a signal until the lock is released, for a file system that hangs."""

_ABOUT = "Holds the lock of a lineage of checkpoints as long as the pods of a run exist."
_CODES = """\
exit codes: 0 ended by SIGTERM; 2 wrong usage; 5 the claim cannot be written to; 10 the lock was lost, or a fault of
this program. Kubernetes starts the sidecar again"""


def main() -> NoReturn:
    """Hold the lineage until a signal arrives, then end the process."""
    config, rank, log = _parsed(sys.argv[1:])
    run = f"{config.job}-{os.environ.get(RUN_ENV) or 'unknown'}"
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set("signal"))
    end_after(lambda: _work(config, run, rank, stop, log), log)


def _work(config: LineageConfig, run: str, rank: int, stop: Stop, log: Log) -> WaitOutcome:
    what = f"Lineage {config.lineage}"
    try:
        interruptible(
            stop, lambda: hold(config, run, stop, log) if rank == 0 else stop.wait(), lambda _: _RELEASE_SECONDS
        )
    except StoppedError:
        pass
    except Exception as error:
        failure = of_any(error, f"{what} cannot be held in its claim, as user {os.geteuid()}")
        if isinstance(failure, AttemptError):
            hint = ". `template.spec.securityContext` of the Training gives the pods a user or an `fsGroup`"
            return WaitOutcome(failure.code, failure.reason, f"{failure}{hint if failure.reason == 'NoAccess' else ''}")
    return WaitOutcome(ExitCode.DONE, "Released", f"{what}: the run is over")


def _parsed(words: Sequence[str]) -> tuple[LineageConfig, int, Log]:
    """Parse the command line; return the settings, the index of the pod, and the log.

    Raises SystemExit: 2 for wrong arguments, 0 after `--help`.
    """
    parser = bare_parser("stowplan.agents.hold_lineage", about=_ABOUT, codes=_CODES)
    parser.add_argument("--path", required=True, metavar="DIRECTORY", help="where the claim is mounted")
    parser.add_argument("--lineage", required=True, metavar="NAME", help="path of the lineage in the claim")
    parser.add_argument("--job", required=True, metavar="NAME", help=f"the run without its hash, which is in {RUN_ENV}")
    parser.add_argument("--spec", default="", metavar="DIGEST", help="for the marker")
    parser.add_argument("--image", default="", metavar="IMAGE", help="for the marker")
    parser.add_argument("--dataset", action="append", default=[], metavar="NAME=DIRECTORY", help="for the marker")
    given = parser.parse_args(words)
    named = {key: getattr(given, key) for key in ("path", "lineage", "job", "spec", "image")}
    try:
        config = LineageConfig.model_validate({**named, "datasets": given.dataset})
        return config, int(os.environ.get(RANK_ENV) or 0), Log(given.log_format, identity(os.environ))
    except ValidationError as error:
        parser.error("; ".join(f"--{each['loc'][0]}: {each['msg']}" for each in error.errors(include_url=False)))
    except ValueError as error:
        parser.error(f"{RANK_ENV}: {error}")
