"""How a pod reaches its API server: address from the environment, token and certificate authority from files."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HOST_ENV = "KUBERNETES_SERVICE_HOST"
PORT_ENV = "KUBERNETES_SERVICE_PORT"
"""The kubelet sets both in every container."""

ACCOUNT_DIRECTORY = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where pods find `token` and `ca.crt` of their ServiceAccount."""


@dataclass(frozen=True, slots=True)
class Access:
    """One API server and the identity of one ServiceAccount.

    The files are read again and again: the kubelet renews a projected token before it expires, and the authorities when
    they change.
    """

    server: str
    token_file: Path
    authorities: Path

    def token(self) -> str:
        """The present token; OSError or ValueError if there is none, without a word of it."""
        token = self.token_file.read_text(encoding="ascii").strip()
        # What is refused as a header would be quoted in the error.
        if not token.isprintable() or len(token.split()) != 1:
            raise ValueError(f"{self.token_file} holds no token")
        return token

    def tls(self) -> ssl.SSLContext:
        """A context that trusts the cluster's authorities and no others; OSError if the file holds none."""
        context = ssl.create_default_context(cafile=str(self.authorities))
        # Python 3.13 began to ask for extensions that the authorities of many clusters do not have.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


def from_pod(environment: Mapping[str, str], directory: Path = ACCOUNT_DIRECTORY) -> Access | str:
    """The access that a pod has, or a sentence that says what is missing."""
    host, port = environment.get(HOST_ENV), environment.get(PORT_ENV)
    if not host or not port:
        return f"{HOST_ENV} and {PORT_ENV} are not set: this program runs in a pod"
    netloc = f"[{host}]" if ":" in host else host
    access = Access(f"https://{netloc}:{port}", directory / "token", directory / "ca.crt")
    try:
        access.token()
        access.tls()
    except (OSError, ValueError) as error:
        return f"No token and authorities of a ServiceAccount in {directory}: {error}"
    return access
