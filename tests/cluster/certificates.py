"""A certificate authority for one control plane: every component gets its own identity."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOSTS = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
"""Names under which the API server is called."""
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key as PEM files."""

    certificate: Path
    key: Path


@dataclass(frozen=True)
class Authority:
    """Signs certificates and keeps them in one folder."""

    folder: Path
    certificate: Path
    _certificate: x509.Certificate
    _key: ec.EllipticCurvePrivateKey
    addresses: tuple[str, ...] = (LOOPBACK,)
    """Where the API server is called."""

    @classmethod
    def create(cls, folder: Path, addresses: tuple[str, ...] = (LOOPBACK,)) -> "Authority":
        """Make a folder with a new self-signed authority in it."""
        folder.mkdir(parents=True)
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("stowplan-test-authority", ())
        certificate = (
            _builder(name, name, key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        path = folder / "ca.crt"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return cls(folder, path, certificate, key, addresses)

    def issue(self, common_name: str, organizations: tuple[str, ...] = ()) -> Pair:
        """A certificate for serving on the addresses and for calling: its subject is the caller."""
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.DNSName(host) for host in HOSTS]
        names += [x509.IPAddress(ipaddress.ip_address(each)) for each in self.addresses]
        usages = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        certificate = (
            _builder(_name(common_name, organizations), self._certificate.subject, key)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(usages, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        stem = common_name.replace(":", "-")
        path = self.folder / f"{stem}.crt"
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return Pair(path, _write_key(self.folder / f"{stem}.key", key))

    def signing_key(self, name: str) -> Path:
        """A key pair without a certificate, for signing ServiceAccount tokens."""
        return _write_key(self.folder / f"{name}.key", ec.generate_private_key(ec.SECP256R1()))


def _name(common_name: str, organizations: tuple[str, ...]) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, value) for value in organizations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
    )


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey) -> Path:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    return path
