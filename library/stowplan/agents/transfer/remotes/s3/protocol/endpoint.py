"""Address of a bucket, and the account for requests to it."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from stowplan.agents.attempt.network import OF_A_POD, Network
from stowplan.agents.transfer.remotes.s3.protocol.signing import S3Credentials, encoded

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 30.0
"""Maximum wait in seconds for the next bytes of an answer, unless its `Pace` is slower."""

DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of one server, with the account for requests to it."""

    name: str
    """Name of the bucket; with Ceph also `<tenant>:<bucket>`."""
    endpoint: str | None
    """URL of the server, perhaps with a path but without `/` at its end; None for the AWS endpoint of `region`."""
    region: str
    path_style: bool
    """True if the bucket's name is in the path of URLs, False if it is the first label of the host."""
    credentials: S3Credentials | None
    """Credentials; None for unsigned requests."""
    authorities: Path | None = None
    """File of certificates to trust in addition to those of the system; None for no others."""
    network: Network = OF_A_POD
    """Rule for the IP addresses that the server may have."""

    @property
    def scheme(self) -> str:
        return urlsplit(self._server).scheme

    @property
    def host(self) -> str:
        """Host of the requests, with its port if the endpoint names one."""
        netloc = urlsplit(self._server).netloc
        return netloc if self.path_style else f"{self.name}.{netloc}"

    @property
    def root(self) -> str:
        """Percent-encoded path that begins the path of every request: that of the endpoint, and the bucket.

        The bucket is missing if it is in the host.
        """
        path = encoded(unquote(urlsplit(self._server).path), "/")
        return f"{path}/{encoded(self.name)}" if self.path_style else path

    @property
    def _server(self) -> str:
        return self.endpoint or f"https://s3.{self.region}.amazonaws.com"
