"""One attempt in the test's own process, so that a test may change its limits."""

from typing import Any

from stowplan.agents.attempt.failure import AttemptError
from stowplan.agents.attempt.network import Network
from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.engine import TransferWork, engine
from stowplan.agents.transfer.run import TransferRun
from stowplan.agents.transfer.settings import settings
from stowplan.schema.agents.transfer_config import TransferConfig
from tests.agents.transfer.agent import Transfer

LOOPBACK = Network(allow_loopback=True)


def attempt(
    cube: Transfer, source: dict[str, Any], sink: dict[str, Any], network: Network = LOOPBACK
) -> str | AttemptError:
    """What was done, or why not."""
    assert cube.claim
    config = TransferConfig.model_validate(cube.config(source, sink))
    reported = settings(config, cube.variables(), network)
    try:
        work = TransferWork(AttemptOutcome(None, None), Stop(), Log(), Redactor(()), config.request_retries)
        return TransferRun(reported, engine(reported), work).all()
    except AttemptError as failure:
        return failure
