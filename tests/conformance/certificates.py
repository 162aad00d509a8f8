"""Certificates of a test: an authority, a server on localhost, and a client."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.x509.oid import NameOID

__all__ = ["Authority", "Certificates", "make_certificates"]


@dataclass(frozen=True, slots=True)
class Certificates:
    """Paths of PEM files."""

    authority: Path
    server: Path
    server_key: Path
    client: Path
    client_key: Path


class Authority:
    """An authority that signs certificates."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("Sidecheck tests")
        self.pem = _pem(
            _builder(self._name, self._name, self._key.public_key(), days=7)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            # Tells authorities of the same name apart.
            .add_extension(self._identifier(), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def issue(
        self,
        role: str,
        hosts: Sequence[str],
        *,
        days: float = 7,
        key: PrivateKeyTypes | None = None,
    ) -> tuple[bytes, bytes]:
        """Return a certificate for *hosts* that expires in *days*, and its key, in PEM."""
        key = key or ec.generate_private_key(ec.SECP256R1())
        public: Any = key.public_key()
        names = list(map(_general_name, hosts))
        certificate = (
            _builder(_name(role), self._name, public, days)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(self._identifier()),
                critical=False,
            )
            .sign(self._key, hashes.SHA256())
        )
        return _pem(certificate), key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )

    def _identifier(self) -> x509.SubjectKeyIdentifier:
        return x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())


def make_certificates(folder: Path) -> Certificates:
    """Write the certificates to *folder*."""
    authority = Authority()
    paths = {"authority": folder / "ca.pem"}
    paths["authority"].write_bytes(authority.pem)
    for role, hosts in (("server", ["localhost", "127.0.0.1"]), ("client", ["client"])):
        paths[role], paths[f"{role}_key"] = folder / f"{role}.pem", folder / f"{role}.key"
        certificate, key = authority.issue(role, hosts)
        paths[role].write_bytes(certificate)
        paths[f"{role}_key"].write_bytes(key)
    return Certificates(**paths)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, days: float
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=8))
        .not_valid_after(now + timedelta(days=days))
    )


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
