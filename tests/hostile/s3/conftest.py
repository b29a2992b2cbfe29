"""A hostile server, and transfers with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from stowplan.agents.attempt.failure import of_any
from stowplan.agents.attempt.network import Network
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.network.retry import Attempts
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import Bucket
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from tests.agents.transfer.agent import Cube
from tests.agents.transfer.server import Storage
from tests.hostile.s3.server import BUCKET, Server, serving


@pytest.fixture
def server() -> Iterator[Server]:
    """A server without objects."""
    with serving() as running:
        yield running


@pytest.fixture
def cube(server: Server, tmp_path: Path) -> Cube:
    """A transfer by an agent that is a process of its own."""
    return Cube(tmp_path, Storage(server.url, BUCKET), options={"requestRetries": 0})


@pytest.fixture
def client(server: Server) -> Iterator[RestClient]:
    """The client alone."""
    own = Network(allow_loopback=True)
    bucket = Bucket(BUCKET, server.url, "us-east-1", path_style=True, credentials=None, network=own)
    client = RestClient(bucket, Attempts(0, Stop(), Log(), of_any), Redactor(()))
    yield client
    client.close()
