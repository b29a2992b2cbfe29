"""Access of a pod to the API server of Kubernetes.

The address comes from the environment; the token and the certificate authorities come from files.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.runtime.settings import SettingsError

HOST_ENV = "KUBERNETES_SERVICE_HOST"
PORT_ENV = "KUBERNETES_SERVICE_PORT"
"""Variables with the host and the port of the API server. The kubelet sets both in every container."""


@dataclass(frozen=True, slots=True)
class Access:
    """Address of the API server of Kubernetes, and the identity of one ServiceAccount.

    The files are read again before each use, since the kubelet replaces them: the token before it expires, and the
    certificate authorities when they change.
    """

    server: str
    """Base URL of the API server."""
    token_file: Path
    authorities: Path
    """PEM file with the certificate authorities that signed the API server's certificate."""

    def token(self) -> str:
        """Read the present token and return it.

        Raises OSError if the file cannot be read, and ValueError if it holds no token. No message quotes the file.
        """
        token = self.token_file.read_text(encoding="ascii").strip()
        # httpx quotes an invalid header in its error, which would expose the token.
        if not token.isprintable() or len(token.split()) != 1:
            raise ValueError(f"{self.token_file} holds no token")
        return token

    def tls(self) -> ssl.SSLContext:
        """Return a TLS context that trusts only the cluster's certificate authorities.

        Raises OSError if the file cannot be read or holds no certificate.
        """
        context = ssl.create_default_context(cafile=str(self.authorities))
        # Python 3.13 began to require extensions that the authorities of many clusters do not have.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


def from_pod(environment: Mapping[str, str], directory: Path) -> Access:
    """Return the access to the API server for a program in a pod.

    `environment` has the server's host and port. `directory` holds the ServiceAccount's files `token` and `ca.crt`.
    Raises SettingsError if host, port, token or certificate authorities are missing or cannot be used.
    """
    host, port = environment.get(HOST_ENV), environment.get(PORT_ENV)
    if not host or not port:
        raise SettingsError(f"{HOST_ENV} and {PORT_ENV} are not set: this program runs in a pod")
    netloc = f"[{host}]" if ":" in host else host
    access = Access(f"https://{netloc}:{port}", directory / "token", directory / "ca.crt")
    try:
        access.token()
        access.tls()
    except (OSError, ValueError) as error:
        raise SettingsError(f"No token and authorities of a ServiceAccount in {directory}: {error}") from None
    return access
