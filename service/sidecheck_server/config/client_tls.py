"""TLS settings of a command that calls a server."""

from dataclasses import dataclass

__all__ = ["ClientTls"]


@dataclass(frozen=True, slots=True)
class ClientTls:
    """TLS settings of a command that calls a server, with the names of files in PEM.

    They are those of `sidecheck.Tls`, which commands import only once they call a server.
    """

    #: Authorities of the server; None for those of the system.
    ca: str | None = None
    #: The certificate of the command and its key; None if the server requires none.
    certificate: str | None = None
    key: str | None = None
    #: The name that the certificate of the server must have; "" for the host of the address.
    server_name: str = ""
