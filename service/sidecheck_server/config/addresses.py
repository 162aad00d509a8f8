"""TCP addresses in settings, options and headers; detection of loopback."""

import socket
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

__all__ = [
    "Address",
    "ClientTls",
    "is_loopback_host",
    "unmapped_ip",
]


@dataclass(frozen=True, slots=True)
class ClientTls:
    """TLS settings of a command that calls a server, with the names of files in PEM.

    The fields are the parameters of `sidecheck.Tls`, which commands import only when they
    call a server.
    """

    #: Certificate authorities of the server; None for the authorities of the system.
    ca: str | None = None
    #: The certificate of the command and its key; None if the server requires none.
    certificate: str | None = None
    key: str | None = None
    #: The name in the certificate of the server; "" for the host of the address.
    server_name: str = ""


_LARGEST_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Address:
    """Host and port. The host is a name or an IP address, without brackets."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> "Address":
        """Return the address in *text*, ``host:port``; brackets around IPv6 are optional.

        Raises:
            ValueError: *text* is not an address; the message describes the expected form.
        """
        host_text, _, port = text.rpartition(":")
        is_port = port.isascii() and port.isdigit() and len(port) <= len(str(_LARGEST_PORT))
        host = host_text.strip("[]")
        is_host = host_text in {host, f"[{host}]"} and (
            _is_ipv6(host) if ":" in host else bool(host)
        )
        if not (is_host and is_port and int(port) <= _LARGEST_PORT):
            raise ValueError(f'expected "host:port" with a port of at most {_LARGEST_PORT}')
        return cls(host, int(port))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def is_loopback(self) -> bool:
        """Return whether only this machine can connect to it; look names up."""
        if is_loopback_host(self.host):
            return True
        try:
            infos = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            # A server cannot listen on an unresolvable name either.
            return False
        return all(is_loopback_host(str(sockaddr[0])) for *_, sockaddr in infos)


def is_loopback_host(host: str) -> bool:
    """Return whether the text of *host*, a name or IP address, denotes loopback.

    No name except ``localhost`` does, because the owner of a name controls its addresses.
    """
    if host.lower().removesuffix(".") == "localhost":
        return True
    try:
        return unmapped_ip(host).is_loopback
    except ValueError:
        return False


def unmapped_ip(text: str) -> IPv4Address | IPv6Address:
    """Return the IP address *text* without zone; an IPv4-mapped one becomes IPv4.

    Raises:
        ValueError: *text* is not an IP address.
    """
    ip = ip_address(text.removeprefix("[").removesuffix("]").partition("%")[0])
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return ip if mapped is None else mapped


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host)
    except ValueError:
        return False
    return True
