"""Where to listen: addresses that nobody else listens on."""

import socket
from contextlib import suppress
from pathlib import Path

import grpc

__all__ = ["AddressInUseError", "bind_tcp", "bind_unix", "remove_socket"]


class AddressInUseError(Exception):
    """An address cannot be listened on; the message says which and why."""


def bind_tcp(server: grpc.aio.Server, address: str) -> str:
    """Bind *server* to ``host:port`` and return the address with the port that it got.

    The server must have been made with ``grpc.so_reuseport`` off: with it, a second
    server on the same port takes a part of the first one's connections in silence.

    Raises:
        AddressInUseError: the address is taken, or is none of this machine's.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise AddressInUseError(f"{address!r} is no address to listen on; write host:port")
    try:
        bound = server.add_insecure_port(address)
    except RuntimeError:
        raise AddressInUseError(
            f"cannot listen on {address}: another process does, or it is not of this machine"
        ) from None
    return f"{host}:{bound}"


def bind_unix(server: grpc.aio.Server, path: Path) -> str:
    """Bind *server* to the unix socket *path* and return its address.

    A socket that nobody answers on is left from a server that died, and replaced.

    Raises:
        AddressInUseError: a server answers there, or something else stands there.
    """
    if path.is_socket():
        if _answers(path):
            raise AddressInUseError(f"cannot listen on {path}: another process does")
        path.unlink()
    elif path.exists():
        raise AddressInUseError(f"cannot listen on {path}: a file that is no socket stands there")
    elif not path.absolute().parent.is_dir():
        raise AddressInUseError(f"cannot listen on {path}: its folder is not there")
    address = f"unix:{path.absolute()}"
    try:
        server.add_insecure_port(address)
    except RuntimeError:
        raise AddressInUseError(f"cannot listen on {path}: the system refuses the socket") from None
    return address


def remove_socket(path: Path) -> None:
    """Remove the unix socket *path*, if the server left it."""
    with suppress(FileNotFoundError):
        path.unlink()


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True
