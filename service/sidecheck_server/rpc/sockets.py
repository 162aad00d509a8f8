"""TCP addresses and unix sockets to listen on, with checks that they are free."""

import errno
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import grpc

from sidecheck_server.config.addresses import Address

__all__ = [
    "AddressInUseError",
    "bind_tcp",
    "bind_unix",
    "check_tcp",
    "check_unix",
    "clear_unix",
    "remove_socket",
    "reserve_tcp",
    "set_mode",
    "shared_addresses",
]


class AddressInUseError(Exception):
    """The server cannot listen on an address; the message has the cause."""


def check_tcp(text: str) -> Address:
    """Check that a server can listen on *text*, ``host:port``, and return the address.

    Raises:
        AddressInUseError: the address is invalid, in use, or not an address of this machine.
    """
    try:
        address = Address.parse(text)
    except ValueError as error:
        raise AddressInUseError(f"{text!r} is not an address to listen on; {error}") from None
    _raise_if_taken(address)
    return address


def check_unix(path: Path) -> None:
    """Check that a server can listen on the unix socket *path*.

    Raises:
        AddressInUseError: a process listens there, or the file is not a socket.
    """
    try:
        if path.is_socket():
            if not _is_dead(path):
                raise AddressInUseError(
                    f"cannot listen on {path}: another process is listening there"
                )
        elif path.exists():
            raise AddressInUseError(f"cannot listen on {path}: the file exists and is not a socket")
        elif not path.absolute().parent.is_dir():
            raise AddressInUseError(f"cannot listen on {path}: its folder does not exist")
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {path}: {error.strerror}") from None


def bind_tcp(
    server: grpc.aio.Server,
    text: str,
    credentials: grpc.ServerCredentials | None = None,
    *,
    shared: bool = False,
) -> str:
    """Bind *server* to *text*, ``host:port``; return the actual address.

    Without *credentials* the server speaks plain text.

    The option ``grpc.so_reuseport`` must be off: with it, a second server on the same port would
    silently receive a part of the connections. The exception is a *shared* address, which one
    process has reserved for all its servers (see `reserve_tcp`).

    Raises:
        AddressInUseError: as `check_tcp`.
    """
    address = Address.parse(text) if shared else check_tcp(text)
    try:
        if credentials is None:
            bound = server.add_insecure_port(str(address))
        else:
            bound = server.add_secure_port(str(address), credentials)
    except RuntimeError:
        raise AddressInUseError(f"cannot listen on {address}: the system rejects it") from None
    return str(replace(address, port=bound))


@contextmanager
def reserve_tcp(text: str) -> Iterator[str]:
    """Reserve *text*, ``host:port``, for servers with ``grpc.so_reuseport``.

    Yields the address with the actual port. The system refuses connections until a server
    listens there.

    Raises:
        AddressInUseError: as `check_tcp`.
    """
    address = check_tcp(text)
    port = address.port
    with ExitStack() as stack:
        for family, kind, _, _, sockaddr in socket.getaddrinfo(
            address.host, port, type=socket.SOCK_STREAM
        ):
            reserved = stack.enter_context(socket.socket(family, kind))
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if family == socket.AF_INET6:
                reserved.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            # The host may have addresses that this machine lacks; `check_tcp` found one.
            with suppress(OSError):
                reserved.bind((sockaddr[0], port, *sockaddr[2:]))
                port = reserved.getsockname()[1]
        yield str(replace(address, port=port))


def shared_addresses(text: str) -> list[tuple[str, int]]:
    """Return the IP addresses and the port of *text*, an address that `reserve_tcp` yielded.

    Addresses of the host that this machine lacks are left out.
    """
    address = Address.parse(text)
    usable: list[tuple[str, int]] = []
    for family, kind, _, _, sockaddr in socket.getaddrinfo(
        address.host, address.port, type=socket.SOCK_STREAM
    ):
        with socket.socket(family, kind) as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            probe.bind(sockaddr)
            usable.append((str(sockaddr[0]), address.port))
    return usable


def clear_unix(path: Path) -> str:
    """Return the address of the unix socket *path*, at which a server can listen.

    A socket without a listening process was left by a server that died, and is removed.

    Raises:
        AddressInUseError: as `check_unix`.
    """
    check_unix(path)
    try:
        if path.is_socket():
            path.unlink()
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {path}: {error.strerror}") from None
    return f"unix:{path.absolute()}"


def bind_unix(server: grpc.aio.Server, path: Path) -> str:
    """Bind *server* to the unix socket *path* and return its address.

    Raises:
        AddressInUseError: as `clear_unix`.
    """
    address = clear_unix(path)
    try:
        server.add_insecure_port(address)
    except RuntimeError:
        raise AddressInUseError(f"cannot listen on {path}: the system rejects the socket") from None
    return address


def set_mode(path: Path, mode: int) -> None:
    """Set the file *mode* of the unix socket *path*.

    Raises:
        AddressInUseError: another process has removed or replaced the socket.
    """
    try:
        path.chmod(mode)
    except OSError as error:
        raise AddressInUseError(f"cannot listen on {path}: {error.strerror}") from None


def remove_socket(path: Path) -> None:
    """Remove the unix socket *path* if no process listens on it."""
    with suppress(OSError):
        if path.is_socket() and _is_dead(path):
            path.unlink()


def _raise_if_taken(address: Address) -> None:
    """Raise an error if any of the IP addresses of *address* is in use.

    gRPC succeeds if it can bind one of them. Of two servers on localhost, one would then listen
    on IPv4 and the other on IPv6.
    """
    try:
        infos = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressInUseError(f"cannot listen on {address}: no such host") from None
    errors = []
    for family, kind, _, _, sockaddr in infos:
        with socket.socket(family, kind) as probe:
            # As gRPC does, so that old connections of a former server do not block the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(sockaddr)
            except OSError as error:
                errors.append(error)
    if any(error.errno == errno.EADDRINUSE for error in errors):
        raise AddressInUseError(f"cannot listen on {address}: another process is listening there")
    if len(errors) == len(infos):
        raise AddressInUseError(f"cannot listen on {address}: {errors[0].strerror}")


def _is_dead(path: Path) -> bool:
    """Return whether no process listens on the socket *path*.

    The result is False after any error except a refused connection, for example a lack of
    rights.
    """
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False
