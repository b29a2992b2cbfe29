"""Access of a pod to its API server: address from the environment, token and certificate authorities from files."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stowplan.agents.runtime.settings import SettingsError

HOST_ENV = "KUBERNETES_SERVICE_HOST"
PORT_ENV = "KUBERNETES_SERVICE_PORT"
"""The kubelet sets both in every container."""


@dataclass(frozen=True, slots=True)
class Access:
    """One API server and the identity of one ServiceAccount.

    The files are read before each use: the kubelet renews a projected token before it expires, and the authorities when
    they change.
    """

    server: str
    token_file: Path
    authorities: Path

    def token(self) -> str:
        """Return the present token.

        Raises OSError or ValueError if it is missing; the message never quotes the file.
        """
        token = self.token_file.read_text(encoding="ascii").strip()
        # httpx quotes an invalid header in its error, which would expose the token.
        if not token.isprintable() or len(token.split()) != 1:
            raise ValueError(f"{self.token_file} holds no token")
        return token

    def tls(self) -> ssl.SSLContext:
        """Return a context that trusts only the cluster's authorities. Raises OSError if the file holds none."""
        context = ssl.create_default_context(cafile=str(self.authorities))
        # Python 3.13 began to require extensions that the authorities of many clusters do not have.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context


def from_pod(environment: Mapping[str, str], directory: Path) -> Access:
    """The access that a pod has. `directory` holds `token` and `ca.crt`.

    Raises SettingsError if an address, the token or the authorities are missing.
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
