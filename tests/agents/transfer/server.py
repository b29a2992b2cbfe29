"""A real S3 server (versitygw), with a bucket for each test."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import obstore
from obstore.store import S3Store

from stowplan.agents.attempt.failure import of_any
from stowplan.agents.attempt.network import Network
from stowplan.agents.attempt.redaction import Redactor
from stowplan.agents.attempt.stop import Stop
from stowplan.agents.runtime.log import Log
from stowplan.agents.transfer.network.retry import Attempts
from stowplan.agents.transfer.remotes.s3.protocol.endpoint import Bucket
from stowplan.agents.transfer.remotes.s3.protocol.rest_client import RestClient
from stowplan.agents.transfer.remotes.s3.protocol.signing import S3Credentials
from tests.absent import skip
from tests.cluster.binaries import Missing, obtain
from tests.cluster.certificates import Pair
from tests.cluster.processes import Processes, free_port, listens
from tests.cluster.tools import VERSITYGW

ACCESS_KEY = "AKCANARY0123456789AB"
SECRET_KEY = "sk/CANARY+wJalrXUtnFEMI=K7MDENG&bPxRfi"
"""With characters that each encoding writes in its own way."""

DOMAIN = "s3.test"
"""Below it buckets are host names, which only a proxy can find."""


@dataclass(frozen=True)
class Storage:
    """One bucket of a running server."""

    endpoint: str
    bucket: str
    authorities: Path | None = None

    @property
    def store(self) -> S3Store:
        """The bucket as a client that others wrote knows it."""
        return S3Store(
            self.bucket,
            config={"access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY},
            endpoint=self.endpoint,
            virtual_hosted_style_request=False,
            region="us-east-1",
            client_options={
                "allow_http": True,
                **({"root_certificate": self.authorities.read_bytes()} if self.authorities else {}),
            },
        )

    @property
    def _bucket(self) -> Bucket:
        credentials = S3Credentials(ACCESS_KEY, SECRET_KEY)
        return Bucket(
            self.bucket,
            self.endpoint,
            "us-east-1",
            path_style=True,
            credentials=credentials,
            authorities=self.authorities,
            network=Network(allow_loopback=True),
        )

    @contextmanager
    def client(self) -> Iterator[RestClient]:
        client = RestClient(self._bucket, Attempts(0, Stop(), Log(), of_any), Redactor(()))
        try:
            yield client
        finally:
            client.close()

    def put(self, objects: dict[str, bytes]) -> None:
        """Writes objects; a key that ends in `/` is a folder."""
        with self.client() as client:
            for key, data in objects.items():
                client.call("PUT", key, body=data)

    def read(self) -> dict[str, bytes]:
        """All objects with their content."""
        keys = [each["path"] for each in obstore.list(self.store).collect()]
        return {key: obstore.get(self.store, key).bytes().to_bytes() for key in keys}


_NAMES = (f"bucket-{number}" for number in itertools.count(1))


def new_bucket(endpoint: str, authorities: Path | None = None) -> Storage:
    """Makes a bucket that no other test knows."""
    storage = Storage(endpoint, next(_NAMES), authorities)
    with storage.client() as client:
        client.call("PUT")
    return storage


def needed() -> Path:
    """The server itself. The test is skipped on machines that neither have it nor can build it."""
    found = obtain(VERSITYGW)
    if isinstance(found, Missing):
        skip(str(found))
    return found.paths["versitygw"]


@dataclass
class Server:
    """One server on an empty folder, with TLS if it gets a certificate. It can be stopped and started again."""

    program: Path
    folder: Path
    pair: Pair | None = None
    address: str = "127.0.0.1"
    port: int = field(default_factory=free_port)
    _processes: Processes = field(init=False)

    def __post_init__(self) -> None:
        for each in ("data", "side"):
            (self.folder / each).mkdir()
        self._processes = Processes(self.folder)

    @property
    def url(self) -> str:
        return f"{'https' if self.pair else 'http'}://{self.address}:{self.port}"

    def start(self) -> None:
        """Starts it, also for one more time, with all objects that it had before."""
        environment = [f"ROOT_ACCESS_KEY_ID={ACCESS_KEY}", f"ROOT_SECRET_ACCESS_KEY={SECRET_KEY}"]
        arguments = ["--port", f"{self.address}:{self.port}", "--quiet", "--keep-alive", "--virtual-domain", DOMAIN]
        arguments += [f"--cert={self.pair.certificate}", f"--key={self.pair.key}"] if self.pair else []
        arguments += ["posix", "--sidecar", str(self.folder / "side"), str(self.folder / "data")]
        command = [*environment, str(self.program), *arguments]
        server = self._processes.start(Path("/usr/bin/env"), command, name="versitygw")
        server.await_ready(lambda: listens(self.port, self.address), 30)

    def kill(self) -> None:
        """Ends it at once: clients lose their connections and get no new ones."""
        self._processes.end("versitygw")

    def stop(self) -> None:
        self._processes.stop()


@contextmanager
def serving(program: Path, folder: Path, pair: Pair | None = None, address: str = "127.0.0.1") -> Iterator[str]:
    """A running server; gives its URL."""
    server = Server(program, folder, pair, address)
    try:
        server.start()
        yield server.url
    finally:
        server.stop()
