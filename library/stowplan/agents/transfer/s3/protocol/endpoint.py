"""Server and URLs of a bucket."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from stowplan.agents.attempt.network import OF_A_POD, Network
from stowplan.agents.transfer.s3.protocol.signing import Credentials

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 30.0
"""Maximum wait in seconds for the next bytes of an answer."""

DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of one server, with the account to use."""

    name: str
    endpoint: str | None
    """URL without a path; None for AWS."""
    region: str
    path_style: bool
    credentials: Credentials | None
    """Credentials; None for unsigned requests."""
    authorities: Path | None = None
    """Certificates to trust in addition to those of the system."""
    network: Network = OF_A_POD
    """Addresses that the server may have."""

    @property
    def scheme(self) -> str:
        return urlsplit(self._server).scheme

    @property
    def host(self) -> str:
        """Host and port of the requests."""
        netloc = urlsplit(self._server).netloc
        return netloc if self.path_style else f"{self.name}.{netloc}"

    @property
    def root(self) -> str:
        """Path of the bucket itself."""
        return f"/{self.name}" if self.path_style else ""

    @property
    def _server(self) -> str:
        return self.endpoint or f"https://s3.{self.region}.amazonaws.com"
