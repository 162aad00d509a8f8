"""Clients and servers over Streamable HTTP: the same results with the proxy as without it."""

from pathlib import Path

import pytest
from support.shared_material import unavailable

from matrix.cells import compare, http_modes, run_http
from matrix.clients import CLIENTS, Client
from matrix.servers import SERVERS, Server, Workplace

_CLIENTS = {
    name: list(CLIENTS) if name == "everything" else ["Python SDK 2", "TypeScript SDK 1"]
    for name, server in SERVERS.items()
    if server.http is not None
}


@pytest.mark.parametrize("server", _CLIENTS)
def test_the_results_are_the_same(server: str, tmp_path: Path) -> None:
    """In audit, and with everything enforced; the clients share the server and the proxies."""
    parts: list[Server | Client] = [
        SERVERS[server],
        *(CLIENTS[client] for client in _CLIENTS[server]),
    ]
    if missing := next((reason for part in parts if (reason := part.missing())), None):
        unavailable(missing)
    place = Workplace.make(tmp_path / "place", page="")
    with http_modes(SERVERS[server], place) as urls:
        differences = {
            client: compare(
                SERVERS[server], run_http(CLIENTS[client], SERVERS[server], urls, place)
            )
            for client in _CLIENTS[server]
        }

    assert {client: [] for client in _CLIENTS[server]} == differences
