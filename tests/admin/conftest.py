"""A server with an admin address, and requests to it."""

import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from support.running import RunningServer


@dataclass(frozen=True)
class Response:
    """A response over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


class HttpApi:
    """The HTTP API of a running server."""

    def __init__(self, server: RunningServer) -> None:
        self.server = server
        self.address = server.admin_address

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Return the response to one request, on a connection of its own."""
        connection = http.client.HTTPConnection(self.address, timeout=120)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Response(response.status, fields, response.read())
        finally:
            connection.close()

    def post(self, path: str, body: Any) -> Response:
        """Return the response to a call; *body* is JSON text, or what to write as such."""
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send("POST", path, text, {"content-type": "application/json"})


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpApi]:
    """Return the HTTP API of a server that the tests of a module share."""
    running = RunningServer(tmp_path_factory.mktemp("server"), SIDECHECK_ADMIN_LISTEN="127.0.0.1:0")
    yield HttpApi(running)
    running.close()
