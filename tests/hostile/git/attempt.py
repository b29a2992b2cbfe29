"""An attempt of the transfer agent with a Git repository, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager

from stowplan.agents.attempt.outcome import AttemptOutcome
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.engine import TransferWork
from stowplan.agents.transfer.remotes.git.program.git import Git, prepared
from stowplan.agents.transfer.remotes.git.settings import git_settings
from stowplan.agents.transfer.settings import settings
from stowplan.schema.agents.transfer_config import TransferConfig
from tests.agents.transfer.git.agent import Cube
from tests.agents.transfer.git.server import TOKEN, USERNAME
from tests.hostile.s3.attempt import LOOPBACK


@contextmanager
def prepared_git(cube: Cube) -> Iterator[Git]:
    """What an attempt has."""
    remote = {"type": "git", "urlEnv": "URL", "tokenEnv": "TOKEN", "username": USERNAME}
    local = {"type": "pvc", "claim": "claim", "mountPath": str(cube.claim), "path": "data"}
    config = TransferConfig.model_validate({**cube.config(remote, local), "requestRetries": 0})
    given = git_settings(settings(config, {"URL": cube.url, "TOKEN": TOKEN}, LOOPBACK))
    work = TransferWork(AttemptOutcome(None, None), Stop(), Log(), Redactor(()), config.request_retries)
    with prepared(given, work, ()) as git:
        yield git
