"""TLS of a client's connection."""

import os
import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import grpc

__all__ = ["Pem", "Tls"]

#: PEM as ``bytes``, or the path of a file with it.
Pem: TypeAlias = bytes | str | os.PathLike[str]

#: Pattern of the first line of the PEM of each field.
FIRST_LINES: Final = {
    "ca_certificates": rb"-----BEGIN [A-Z0-9 ]*CERTIFICATE-----",
    "certificate": rb"-----BEGIN [A-Z0-9 ]*CERTIFICATE-----",
    "private_key": rb"-----BEGIN (?!ENCRYPTED)[A-Z0-9 ]*PRIVATE KEY-----(?!\s*Proc-Type)",
}


@dataclass(frozen=True, slots=True)
class Tls:
    """TLS settings of a client: trusted authorities, and the client's certificate.

    The three PEMs are ``bytes``, or the path of a file. The client reads a file once, when it
    is created, since gRPC for Python cannot change the credentials of a channel. To use a
    renewed certificate or other authorities, create another client and close the old one. The
    server's certificate is always verified.

    Raises:
        TypeError: A value is of another type.
        ValueError: There is a *certificate* without a *private_key*, or the reverse.
    """

    #: Certificates of the authorities that sign the server's certificate; None for the
    #: authorities that the system trusts.
    ca_certificates: Pem | None = None
    #: The client's certificate, followed by its intermediate certificates; None if the server
    #: requires none.
    certificate: Pem | None = None
    #: Private key of *certificate*, not encrypted.
    private_key: Pem | None = field(default=None, repr=False)
    #: Required name in the server's certificate, also sent as SNI and authority; "" for the
    #: host of the address.
    server_name: str = ""

    def __post_init__(self) -> None:
        for name in FIRST_LINES:
            value = getattr(self, name)
            if value is not None and not isinstance(value, bytes | str | os.PathLike):
                raise TypeError(
                    f"{name} must be PEM as bytes or a path, not {type(value).__name__}"
                )
            if isinstance(value, str) and "-----BEGIN" in value:
                raise TypeError(f"{name} must be bytes if it is PEM; a str is a path")
        if not isinstance(self.server_name, str):
            raise TypeError(f"server_name must be a str, not {type(self.server_name).__name__}")
        if (self.certificate is None) != (self.private_key is None):
            raise ValueError("certificate and private_key must be given together")

    def channel_credentials(self) -> grpc.ChannelCredentials:
        """Read the files, and return credentials for a gRPC channel.

        A client calls this by itself. Call it for channels to other services of the server, such
        as its health service.

        Raises:
            OSError: A file cannot be read.
            ValueError: A certificate or key is not PEM.
        """
        return grpc.ssl_channel_credentials(
            root_certificates=self._read("ca_certificates") or _system_roots(),
            private_key=self._read("private_key"),
            certificate_chain=self._read("certificate"),
        )

    def _read(self, name: str) -> bytes | None:
        """Return the PEM in the field *name*, or None."""
        value: Pem | None = getattr(self, name)
        if value is None:
            return None
        pem = value if isinstance(value, bytes) else Path(value).read_bytes()
        # gRPC would report invalid PEM only as a failed connection, after the first call.
        if re.search(FIRST_LINES[name], pem) is None:
            expected = "an unencrypted private key" if name == "private_key" else "a certificate"
            raise ValueError(f"{name} must have {expected} in PEM")
        return pem


def _system_roots() -> bytes | None:
    """Return the certificates of authorities that the system trusts, or None.

    Returns None if there are none, or if gRPC's setting names a file. gRPC then uses that file,
    or the authorities bundled with it.
    """
    if "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH" in os.environ:
        return None
    certificates = ssl.create_default_context().get_ca_certs(binary_form=True)
    if certificates:
        return "".join(map(ssl.DER_cert_to_PEM_cert, certificates)).encode()
    # OpenSSL reads a folder only in a handshake.
    folder = ssl.get_default_verify_paths().capath
    paths = sorted(Path(folder).glob("*.[0-9]")) if folder else []
    return b"\n".join(path.read_bytes() for path in paths) or None
