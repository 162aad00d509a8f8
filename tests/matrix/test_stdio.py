"""Clients and servers over stdio: a client has the same results with the proxy as without it.

These are some cells of the matrix, with each client and each server; `make matrix` runs all.
`tests/e2e/test_proxied_servers.py` compares the messages of some of the others.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.shared_material import unavailable

from matrix.cells import compare, run_stdio
from matrix.clients import CLIENTS
from matrix.servers import SERVERS, serving_page

_CELLS = [
    *(("everything", client) for client in CLIENTS),
    *(
        (server, client)
        for server in (
            *("sequential thinking", "fetch", "sqlite", "FastMCP 2", "FastMCP 4"),
            *("Go SDK", "Java SDK", "Rust SDK"),
        )
        for client in ("Python SDK 2", "TypeScript SDK 1")
    ),
    ("filesystem", "TypeScript SDK 2"),
    ("memory", "OpenAI Agents"),
    ("git", "LangChain"),
    ("time", "Pydantic AI"),
]


@pytest.fixture(scope="module")
def page() -> Iterator[str]:
    with serving_page() as url:
        yield url


@pytest.mark.parametrize(("server", "client"), _CELLS)
def test_the_results_are_the_same(server: str, client: str, page: str, tmp_path: Path) -> None:
    """In audit, and with everything enforced."""
    if missing := CLIENTS[client].missing() or SERVERS[server].missing():
        unavailable(missing)
    cell = run_stdio(CLIENTS[client], SERVERS[server], tmp_path / "places", page)

    assert [] == compare(SERVERS[server], cell)
