"""TCP addresses to listen on: "host:port"."""

import ipaddress
from typing import Final

__all__ = ["check_address", "is_loopback"]

_LARGEST_PORT: Final = 65_535


def check_address(address: str) -> None:
    """Check that *address* is "host:port", or "" for none.

    Raises:
        ValueError: it is not.
    """
    host, _, port = address.rpartition(":")
    is_port = port.isascii() and port.isdigit() and len(port) <= len(str(_LARGEST_PORT))
    if address and not (host and is_port and int(port) <= _LARGEST_PORT):
        raise ValueError(f'expected "host:port" with a port of at most {_LARGEST_PORT}, or ""')
    if "\0" in address:
        raise ValueError("expected no null character")


def is_loopback(address: str) -> bool:
    """Return whether only programs on this machine can reach *address*."""
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
