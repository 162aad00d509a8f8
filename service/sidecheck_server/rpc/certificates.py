"""Checks of PEM certificates and keys: whether gRPC can serve them.

gRPC does not report why it rejects a certificate, and a running server silently keeps the
previous one. So everything that gRPC would reject is an error here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import Certificate, load_pem_x509_certificates

__all__ = ["InvalidPemError", "Validity", "check_certificates"]

_CURVES = {"secp256r1", "secp384r1"}
"""Elliptic curves whose signatures all gRPC clients can verify."""


class InvalidPemError(Exception):
    """The content of a file is invalid."""

    def __init__(self, setting: str, reason: str) -> None:
        super().__init__(reason)
        self.setting = setting
        """The setting that names the file."""
        self.reason = reason
        """The fault, as a predicate of the file."""


@dataclass(frozen=True, slots=True)
class Validity:
    """The time in which all certificates of a chain are valid."""

    not_before: datetime
    not_after: datetime


def check_certificates(pems: Mapping[str, bytes]) -> Validity:
    """Check the content of TLS files by setting; return the chain's validity.

    Raises:
        InvalidPemError: a file does not have what its setting requires, or the key does not
            belong to the certificate.
    """
    chain = _load_certificates(pems, "tls_certificate")
    key = _load_key(pems["tls_key"])
    if chain[0].public_key() != key.public_key():
        raise InvalidPemError(
            "tls_key",
            "is not the private key of the first certificate in tls_certificate",
        )
    if "tls_client_ca" in pems:
        _load_certificates(pems, "tls_client_ca")
    return Validity(
        max(certificate.not_valid_before_utc for certificate in chain),
        min(certificate.not_valid_after_utc for certificate in chain),
    )


def _load_certificates(pems: Mapping[str, bytes], setting: str) -> list[Certificate]:
    try:
        return load_pem_x509_certificates(pems[setting])
    except ValueError:
        raise InvalidPemError(
            setting, "does not have certificates in PEM, or one of them is damaged"
        ) from None


def _load_key(pem: bytes) -> PrivateKeyTypes:
    try:
        key = load_pem_private_key(pem, password=None)
    except TypeError:
        raise InvalidPemError("tls_key", "is encrypted; decrypt it") from None
    except UnsupportedAlgorithm:
        raise InvalidPemError("tls_key", "has a key of an unknown kind") from None
    except ValueError:
        raise InvalidPemError("tls_key", "does not have a private key in PEM") from None
    is_usable = isinstance(key, RSAPrivateKey) or (
        isinstance(key, EllipticCurvePrivateKey) and key.curve.name in _CURVES
    )
    if not is_usable:
        raise InvalidPemError(
            "tls_key",
            "has a key of a kind that clients of gRPC do not verify; use RSA, or ECDSA with "
            "P-256 or P-384",
        )
    return key
