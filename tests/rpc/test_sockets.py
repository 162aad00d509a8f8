"""Which addresses are listened on, and which are refused."""

import re
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from sidecheck_server.rpc.sockets import AddressInUseError, bind_tcp, bind_unix, remove_socket


@pytest.fixture
async def server() -> grpc.aio.Server:
    """A server that listens nowhere as yet."""
    return grpc.aio.server(options=[("grpc.so_reuseport", 0)])


@pytest.fixture
def taken() -> Iterator[int]:
    """A port of IPv4 that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def listening(path: Path, kind: int = socket.SOCK_STREAM) -> socket.socket:
    """Listen on *path* as another server would."""
    other = socket.socket(socket.AF_UNIX, kind)
    other.bind(str(path))
    if kind == socket.SOCK_STREAM:
        other.listen()
    return other


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
async def test_a_free_port_is_found_and_told(server: grpc.aio.Server, host: str) -> None:
    """Port 0 asks for any; the host stays as it was written."""
    bound = bind_tcp(server, f"{host}:0")
    await server.start()
    port = int(bound.removeprefix(f"{host}:"))
    with socket.create_connection((host.strip("[]"), port), timeout=60):
        pass
    await server.stop(None)

    assert port > 0


@pytest.mark.parametrize(
    "address",
    ["", "here", "50151", ":50151", "here:", "here:x", "here:-1", "here:²", "here:65536", "a:1:"],
)
async def test_what_is_no_address_is_refused(server: grpc.aio.Server, address: str) -> None:
    """It says how one is written."""
    with pytest.raises(AddressInUseError) as caught:
        bind_tcp(server, address)

    assert f"{address!r} is no address to listen on; write host:port" == str(caught.value)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        pytest.param("192.0.2.1:0", "Cannot assign requested address", id="not of this machine"),
        pytest.param("nowhere.invalid:0", "no such host", id="unknown"),
        pytest.param("unix:/tmp/x:1", "no such host", id="a path"),
        pytest.param(f"{'x' * 70}.invalid:1", "no such host", id="no name"),
    ],
)
async def test_an_address_of_elsewhere_is_refused(
    server: grpc.aio.Server, address: str, why: str
) -> None:
    """With the reason."""
    with pytest.raises(AddressInUseError, match=f"^cannot listen on {re.escape(address)}: {why}$"):
        bind_tcp(server, address)


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "localhost", "[::ffff:127.0.0.1]"])
async def test_a_taken_port_is_refused(server: grpc.aio.Server, taken: int, host: str) -> None:
    """Also where only one of the host's addresses is taken; gRPC would take the others."""
    with pytest.raises(AddressInUseError) as caught:
        bind_tcp(server, f"{host}:{taken}")

    assert f"cannot listen on {host}:{taken}: another process does" == str(caught.value)


async def test_a_port_that_was_just_left_is_taken_again(server: grpc.aio.Server) -> None:
    """Connections of a server that ended do not hold it."""
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
    """A relative one too, and told whole."""
    monkeypatch.chdir(tmp_path)
    got = [bind_unix(server, Path("near")), bind_unix(server, tmp_path / "far")]

    assert [f"unix:{tmp_path}/near", f"unix:{tmp_path}/far"] == got


async def test_a_dead_socket_is_replaced(server: grpc.aio.Server, tmp_path: Path) -> None:
    """It is left from a server that was killed."""
    path = tmp_path / "socket"
    listening(path).close()
    bind_unix(server, path)
    await server.start()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    await server.stop(None)


def _file(path: Path) -> None:
    path.write_text("precious")


def _found(folder: Path) -> dict[str, str | bool]:
    return {path.name: path.is_file() and path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("make", "name", "why"),
    [
        pytest.param(_file, "it", "a file that is no socket stands there", id="file"),
        pytest.param(Path.mkdir, "it", "a file that is no socket stands there", id="folder"),
        pytest.param(None, "no/it", "its folder is not there", id="no folder"),
        pytest.param(_file, "it/in", "its folder is not there", id="a file as the folder"),
        pytest.param(None, "x" * 200, "the system refuses the socket", id="too long"),
        pytest.param(None, "x" * 2000, "File name too long", id="far too long"),
        pytest.param(
            lambda path: path.symlink_to("/nowhere/at/all"),
            "it",
            "the system refuses the socket",
            id="dangling link",
        ),
    ],
)
async def test_a_path_that_cannot_be_a_socket_is_refused(
    server: grpc.aio.Server, tmp_path: Path, make: Any, name: str, why: str
) -> None:
    """And what stands there stays."""
    if make:
        make(tmp_path / "it")
    before = _found(tmp_path)
    with pytest.raises(AddressInUseError) as caught:
        bind_unix(server, tmp_path / name)

    assert f"cannot listen on {tmp_path / name}: {why}" == str(caught.value)
    assert before == _found(tmp_path)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(socket.SOCK_STREAM, id="a server"),
        pytest.param(socket.SOCK_DGRAM, id="a socket of another kind"),
    ],
)
async def test_a_live_socket_is_refused(server: grpc.aio.Server, tmp_path: Path, kind: int) -> None:
    """And goes on to live."""
    path = tmp_path / "socket"
    with closing(listening(path, kind)):
        inode = path.stat().st_ino
        with pytest.raises(AddressInUseError) as caught:
            bind_unix(server, path)
        remove_socket(path)

        assert f"cannot listen on {path}: another process does" == str(caught.value)
        assert inode == path.stat().st_ino


def test_only_a_dead_socket_is_removed(tmp_path: Path) -> None:
    """Another server may have come while calls under way ended."""
    dead, file = tmp_path / "dead", tmp_path / "file"
    listening(dead).close()
    file.write_text("precious")
    for path in (dead, file, tmp_path / "gone", tmp_path / "no" / "folder"):
        remove_socket(path)

    assert [file] == list(tmp_path.iterdir())
