"""Identities for the API server: certificates, kubeconfigs and the trust between both sides."""

import json
import ssl
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.certificates import Authority, Pair


@dataclass(frozen=True)
class Trust:
    """The authority that both sides of every connection trust, and the server they call."""

    authority: Authority
    address: str
    port: int

    @property
    def server(self) -> str:
        return f"https://{self.address}:{self.port}"

    def context(self, pair: Pair | None = None) -> ssl.SSLContext:
        """For a client that checks the server and, with a pair, shows its own certificate."""
        context = ssl.create_default_context(cafile=self.authority.certificate)
        if pair is not None:
            context.load_cert_chain(pair.certificate, pair.key)
        return context

    def kubeconfig(self, pair: Pair) -> Path:
        """Write a kubeconfig for the holder of the certificate, beside its key. It is JSON, which is YAML."""
        cluster = {"server": self.server, "certificate-authority": str(self.authority.certificate)}
        user = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        }
        path = pair.key.with_suffix(".kubeconfig")
        path.write_text(json.dumps(config), encoding="utf-8")
        return path
