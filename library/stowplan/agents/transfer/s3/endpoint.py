"""Where a bucket is served, and how requests to it are written."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from obstore.store import S3Store

from stowplan.agents.attempt.network import OF_A_POD, Network
from stowplan.agents.transfer.s3.signing import Credentials

if TYPE_CHECKING:
    from obstore.store import S3Config

CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 30.0
"""Longest wait for the next bytes of an answer."""

REQUEST_SECONDS = 900.0
"""Longest time of one request: of one part, on a slow line."""

DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of one server, with the account to use there."""

    name: str
    endpoint: str | None
    """URL without a path; None for AWS."""
    region: str
    path_style: bool
    credentials: Credentials | None
    """None for requests without a signature."""
    authorities: Path | None = None
    """Certificates to trust beside those of the system."""
    network: Network = OF_A_POD
    """Which addresses the server may have."""

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
        """The path that stands for the bucket itself."""
        return f"/{self.name}" if self.path_style else ""

    @property
    def _server(self) -> str:
        return self.endpoint or f"https://s3.{self.region}.amazonaws.com"

    def store(self, silence: float = SILENCE_SECONDS) -> S3Store:
        """The bucket as obstore knows it. It repeats nothing by itself: `Attempts` does, and says so."""
        keys = self.credentials
        config: S3Config = {"skip_signature": keys is None}
        if keys:
            config |= {"access_key_id": keys.access_key_id, "secret_access_key": keys.secret_access_key}
        if keys and keys.session_token:
            config["session_token"] = keys.session_token
        return S3Store(
            self.name,
            config=config,
            endpoint=f"{self.scheme}://{self.host}",
            region=self.region,
            virtual_hosted_style_request=not self.path_style,
            client_options={
                "allow_http": self.scheme == "http",
                "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                "read_timeout": timedelta(seconds=silence),
                "timeout": timedelta(seconds=REQUEST_SECONDS),
                **({"root_certificate": self.authorities.read_bytes()} if self.authorities else {}),
            },
            retry_config={"max_retries": 0},
        )
