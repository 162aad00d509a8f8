"""Addresses to listen on, and errors of invalid addresses."""

import re
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from sidecheck_server.rpc.sockets import (
    AddressInUseError,
    bind_tcp,
    bind_unix,
    remove_socket,
)


@pytest.fixture
async def server() -> grpc.aio.Server:
    """Return a server without addresses."""
    return grpc.aio.server(options=[("grpc.so_reuseport", 0)])


@pytest.fixture
def port_in_use() -> Iterator[int]:
    """Yield an IPv4 port that another socket listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def listen_on(path: Path, kind: int = socket.SOCK_STREAM) -> socket.socket:
    """Listen on *path* like another server."""
    listener = socket.socket(socket.AF_UNIX, kind)
    listener.bind(str(path))
    if kind == socket.SOCK_STREAM:
        listener.listen()
    return listener


def _no_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "0.0.0.0",
        pytest.param("[::1]", marks=pytest.mark.skipif(_no_ipv6(), reason="needs IPv6"), id="IPv6"),
    ],
)
async def test_port_zero_binds_a_free_port(server: grpc.aio.Server, host: str) -> None:
    """The result has the bound port; the host is unchanged."""
    bound = bind_tcp(server, f"{host}:0")
    await server.start()
    port = int(bound.removeprefix(f"{host}:"))
    with socket.create_connection((host.strip("[]"), port), timeout=60):
        pass
    await server.stop(None)

    assert port > 0


@pytest.mark.parametrize(
    "address",
    [
        "",
        "here",
        "50151",
        ":50151",
        "here:",
        "here:x",
        "here:-1",
        "here:²",
        "here:65536",
        "a:1:",
        "unix:/tmp/x:1",
    ],
)
async def test_an_invalid_address_is_rejected(server: grpc.aio.Server, address: str) -> None:
    """The message has the expected form."""
    with pytest.raises(AddressInUseError) as raised:
        bind_tcp(server, address)

    expected = 'expected "host:port" with a port of at most 65535'
    assert f"{address!r} is not an address to listen on; {expected}" == str(raised.value)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        pytest.param("192.0.2.1:0", "Cannot assign requested address", id="not of this machine"),
        pytest.param("nowhere.invalid:0", "no such host", id="unknown"),
        pytest.param(f"{'x' * 70}.invalid:1", "no such host", id="invalid name"),
    ],
)
async def test_an_address_of_another_machine_is_rejected(
    server: grpc.aio.Server, address: str, reason: str
) -> None:
    """The message has the reason of the system."""
    with pytest.raises(
        AddressInUseError, match=f"^cannot listen on {re.escape(address)}: {reason}$"
    ):
        bind_tcp(server, address)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost", "[::ffff:127.0.0.1]"])
async def test_a_port_in_use_is_rejected(
    server: grpc.aio.Server, port_in_use: int, host: str
) -> None:
    """One used address of the host suffices; gRPC would bind the others."""
    with pytest.raises(AddressInUseError) as raised:
        bind_tcp(server, f"{host}:{port_in_use}")

    assert f"cannot listen on {host}:{port_in_use}: another process is listening there" == str(
        raised.value
    )


async def test_a_port_in_time_wait_can_be_bound(server: grpc.aio.Server) -> None:
    """Connections of a server that ended do not block its port."""
    with socket.create_server(("127.0.0.1", 0)) as before:
        port = before.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            connection, _ = before.accept()
            connection.close()  # first, so that TIME_WAIT is on this side
            client.recv(1)

    assert f"127.0.0.1:{port}" == bind_tcp(server, f"127.0.0.1:{port}")


async def test_a_path_is_bound(
    server: grpc.aio.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address of a relative path is absolute."""
    monkeypatch.chdir(tmp_path)
    results = [bind_unix(server, Path("near")), bind_unix(server, tmp_path / "far")]

    assert [f"unix:{tmp_path}/near", f"unix:{tmp_path}/far"] == results


async def test_a_dead_socket_is_replaced(server: grpc.aio.Server, tmp_path: Path) -> None:
    """A killed server leaves its socket behind."""
    path = tmp_path / "socket"
    listen_on(path).close()
    bind_unix(server, path)
    await server.start()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    await server.stop(None)


def _file(path: Path) -> None:
    path.write_text("precious")


def _content_of(folder: Path) -> dict[str, str | bool]:
    return {path.name: path.is_file() and path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("make", "name", "reason"),
    [
        pytest.param(_file, "it", "the file exists and is not a socket", id="file"),
        pytest.param(Path.mkdir, "it", "the file exists and is not a socket", id="folder"),
        pytest.param(None, "no/it", "its folder does not exist", id="no folder"),
        pytest.param(_file, "it/in", "its folder does not exist", id="a file as the folder"),
        pytest.param(None, "x" * 200, "the system rejects the socket", id="too long"),
        pytest.param(None, "x" * 2000, "File name too long", id="far too long"),
        pytest.param(
            lambda path: path.symlink_to("/nowhere/at/all"),
            "it",
            "the system rejects the socket",
            id="dangling link",
        ),
    ],
)
async def test_an_invalid_path_is_rejected(
    server: grpc.aio.Server, tmp_path: Path, make: Any, name: str, reason: str
) -> None:
    """Existing files are unchanged."""
    if make:
        make(tmp_path / "it")
    before = _content_of(tmp_path)
    with pytest.raises(AddressInUseError) as raised:
        bind_unix(server, tmp_path / name)

    assert f"cannot listen on {tmp_path / name}: {reason}" == str(raised.value)
    assert before == _content_of(tmp_path)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(socket.SOCK_STREAM, id="a server"),
        pytest.param(socket.SOCK_DGRAM, id="a socket of another kind"),
    ],
)
async def test_a_live_socket_is_rejected(
    server: grpc.aio.Server, tmp_path: Path, kind: int
) -> None:
    """The other server keeps its socket."""
    path = tmp_path / "socket"
    with closing(listen_on(path, kind)):
        inode = path.stat().st_ino
        with pytest.raises(AddressInUseError) as raised:
            bind_unix(server, path)
        remove_socket(path)

        assert f"cannot listen on {path}: another process is listening there" == str(raised.value)
        assert inode == path.stat().st_ino


def test_only_a_dead_socket_is_removed(tmp_path: Path) -> None:
    """Another server may have replaced the socket during shutdown."""
    dead, file = tmp_path / "dead", tmp_path / "file"
    listen_on(dead).close()
    file.write_text("precious")
    for path in (dead, file, tmp_path / "gone", tmp_path / "no" / "folder"):
        remove_socket(path)

    assert [file] == list(tmp_path.iterdir())
