"""Fixtures: a proxy that enforces everything with locked pins, before servers in the test."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from attacks.raw_http import RawServer, Response, exchange, raw_server
from sidecheck_server.config.policies import Pinning
from sidecheck_server.proxy.rulings.pins import open_pins
from support.http_mcp_server import TOOL, HttpMcpServer
from support.http_proxy import HttpProxied, proxied
from support.upstream_fixtures import server, upstream

__all__ = ["server", "upstream"]


@dataclass(frozen=True, slots=True)
class Attacked:
    """A proxy before a server, both at ports of this machine."""

    server: RawServer
    port: int

    def send(self, request: bytes) -> Response:
        """Return the response to the bytes of *request*."""
        return exchange(self.port, request)


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the options of a proxy that enforces everything, with the tool of the servers."""
    path: Path = tmp_path_factory.mktemp("pins") / "pins.json"
    pins = open_pins(Pinning.FIRST_USE, path)
    pins.note_definition("echo", json.dumps(TOOL).encode())
    pins.complete(["echo"])
    return ("--enforce", "--pins", "locked", "--pins-file", str(path))


@contextmanager
def _attacked(*options: str) -> Iterator[Attacked]:
    with (
        raw_server() as server,
        proxied(None, *options, url=f"http://127.0.0.1:{server.port}/mcp") as proxy,
    ):
        yield Attacked(server, int(proxy.url.removesuffix("/mcp").rpartition(":")[2]))


@pytest.fixture(scope="module")
def _attacked_proxy(locked: tuple[str, ...]) -> Iterator[Attacked]:
    with _attacked(*locked, "--max-message-bytes", "2000000") as attacked:
        yield attacked


@pytest.fixture
def attacked(_attacked_proxy: Attacked) -> Attacked:
    """Return a proxy of the module before a server that has received nothing."""
    _attacked_proxy.server.received.clear()
    return _attacked_proxy


@pytest.fixture(scope="module")
def enforced(upstream: HttpMcpServer, locked: tuple[str, ...]) -> Iterator[HttpProxied]:
    """Yield a proxy before the server, for single requests."""
    with proxied(upstream, *locked) as proxy:
        yield proxy
