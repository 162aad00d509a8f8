"""Connections of the admin address beyond its limit."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from support.running import RunningServer

_LIMIT = 4
_SECONDS = 300
_UNFINISHED = (
    b"POST /v1/validate HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n"
    b"content-type: application/json\r\n\r\n"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """Yield the admin address of a server with few connections."""
    running = RunningServer(
        tmp_path_factory.mktemp("admin"),
        SIDECHECK_ADMIN_LISTEN="127.0.0.1:0",
        SIDECHECK_TRANSPORT__CONNECTIONS=str(_LIMIT),
    )
    host, _, port = running.admin_address.rpartition(":")
    yield host, int(port)
    running.close()


def get(address: tuple[str, int], path: str) -> tuple[int, str]:
    """Return the status and the media type of *path*."""
    connection = http.client.HTTPConnection(*address, timeout=_SECONDS)
    try:
        connection.request("GET", path, headers={"host": "localhost"})
        response = connection.getresponse()
        response.read()
        return response.status, response.headers["content-type"].partition(";")[0]
    finally:
        connection.close()


def connect(address: tuple[str, int], sent: bytes) -> socket.socket:
    """Return a connection on which *sent* was sent."""
    connection = socket.create_connection(address, _SECONDS)
    connection.sendall(sent)
    return connection


def read_end(connection: socket.socket) -> bytes:
    """Return all that comes until the server closes *connection*."""
    received = b""
    try:
        while chunk := connection.recv(1 << 16):
            received += chunk
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize(
    ("sent", "response"), [(b"", b""), (b"GET /livez HTTP/1.1\r\nhost: loc", b"HTTP/1.1 503 ")]
)
def test_idle_connections_are_closed_for_others(
    address: tuple[str, int], sent: bytes, response: bytes
) -> None:
    """The oldest are closed; an unfinished head is answered with problem details."""
    with ExitStack() as stack:
        idle = [stack.enter_context(connect(address, sent)) for _ in range(20)]
        statuses = [get(address, path)[0] for path in ("/livez", "/readyz", "/openapi.json")]
        ended = [read_end(connection) for connection in idle[: len(idle) - _LIMIT]]

    assert [200, 200, 200] == statuses
    # One that is closed before its head is read has sent nothing yet.
    assert {end[: len(response)] for end in ended} <= {b"", response}
    assert all(b"application/problem+json" in end for end in ended if end)


def test_probes_are_served_beside_busy_requests(address: tuple[str, int]) -> None:
    """Other requests have problem details."""
    with ExitStack() as stack:
        while (busy := get(address, "/openapi.json"))[0] == 200:
            stack.enter_context(connect(address, _UNFINISHED))
        probes = [get(address, path)[0] for path in ("/livez", "/readyz")]

    assert (503, "application/problem+json") == busy
    assert [200, 200] == probes
