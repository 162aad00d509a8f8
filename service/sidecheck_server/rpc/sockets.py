"""Where to listen: addresses that nobody else listens on."""

import errno
import socket
from contextlib import suppress
from pathlib import Path

import grpc

__all__ = ["AddressInUseError", "bind_tcp", "bind_unix", "remove_socket"]

_LARGEST_PORT = 65_535


class AddressInUseError(Exception):
    """An address cannot be listened on; the message says which and why."""


def bind_tcp(server: grpc.aio.Server, address: str) -> str:
    """Bind *server* to ``host:port`` and return the address with the port that it got.

    The server must have been made with ``grpc.so_reuseport`` off: with it, a second
    server on the same port takes a part of the first one's connections in silence.

    Raises:
        AddressInUseError: the address is taken, or is none of this machine's.
    """
    host, _, port = address.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or int(port) > _LARGEST_PORT:
        raise AddressInUseError(f"{address!r} is no address to listen on; write host:port")
    _refuse_taken(host, int(port), address)
    try:
        bound = server.add_insecure_port(address)
    except RuntimeError:
        raise AddressInUseError(f"cannot listen on {address}: the system refuses it") from None
    return f"{host}:{bound}"


def bind_unix(server: grpc.aio.Server, path: Path) -> str:
    """Bind *server* to the unix socket *path* and return its address.

    A socket that nobody answers on is left from a server that died, and replaced.

    Raises:
        AddressInUseError: a server answers there, or something else stands there.
    """
    try:
        if path.is_socket():
            if not _is_dead(path):
                raise AddressInUseError(f"cannot listen on {path}: another process does")
            path.unlink()
        elif path.exists():
            raise AddressInUseError(
                f"cannot listen on {path}: a file that is no socket stands there"
            )
        elif not path.absolute().parent.is_dir():
            raise AddressInUseError(f"cannot listen on {path}: its folder is not there")
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {path}: {error.strerror}") from None
    address = f"unix:{path.absolute()}"
    try:
        server.add_insecure_port(address)
    except RuntimeError:
        raise AddressInUseError(f"cannot listen on {path}: the system refuses the socket") from None
    return address


def remove_socket(path: Path) -> None:
    """Remove the unix socket *path*, if the server left it there and no other listens on it."""
    with suppress(OSError):
        if path.is_socket() and _is_dead(path):
            path.unlink()


def _refuse_taken(host: str, port: int, address: str) -> None:
    """Refuse *host* if any of its addresses is taken.

    gRPC is content with one of several, so that of two servers on localhost one would
    have IPv4 and the other IPv6.
    """
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressInUseError(f"cannot listen on {address}: no such host") from None
    faults = []
    for family, kind, _, _, place in found:
        with socket.socket(family, kind) as probe:
            # As gRPC does, so that connections of a server that ended do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(place)
            except OSError as error:
                faults.append(error)
    if any(error.errno == errno.EADDRINUSE for error in faults):
        raise AddressInUseError(f"cannot listen on {address}: another process does")
    if len(faults) == len(found):
        raise AddressInUseError(f"cannot listen on {address}: {faults[0].strerror}")


def _is_dead(path: Path) -> bool:
    """Return whether the system says that nobody listens on the socket *path*.

    Anything else it says, such as of another kind of socket, or of a lack of rights,
    tells that somebody may.
    """
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False
