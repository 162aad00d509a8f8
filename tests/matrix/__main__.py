"""Runs the matrix and writes its outcomes, of which `docs/reference/compatibility.md` is made.

usage: python -m matrix [--all] [CLIENT_OR_SERVER...]

Runs the cells of the named clients and servers, and with --all every cell, directly and through
the proxy, and writes `tests/matrix/outcomes.json`; `python -m docs.generate` then writes the page.
Prints each difference, and exits with 1 if there is any, and with 2 if something is not installed.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from matrix.cells import Cell, compare, http_modes, run_http, run_stdio
from matrix.clients import CLIENTS, Client
from matrix.outcomes import Outcomes
from matrix.servers import SERVERS, Server, Workplace, serving_page


def main(arguments: Sequence[str]) -> int:
    """Run the cells that *arguments* name, and return the exit status."""
    names = set(arguments) - {"--all"}
    if not arguments or not names <= SERVERS.keys() | CLIENTS.keys():
        known = ", ".join([*CLIENTS, *SERVERS])
        print(f"usage: python -m matrix [--all] [CLIENT_OR_SERVER...]\n{known}", file=sys.stderr)
        return 2
    servers = [server for name, server in SERVERS.items() if name in names]
    clients = [client for name, client in CLIENTS.items() if name in names]
    servers = servers or list(SERVERS.values())
    clients = clients or list(CLIENTS.values())
    parts: list[Server | Client] = [*servers, *clients]
    if missing := {reason for part in parts if (reason := part.missing())}:
        print(*sorted(missing), sep="\n", file=sys.stderr)
        return 2
    outcomes = Outcomes.read()
    with tempfile.TemporaryDirectory() as folder, serving_page() as page:
        for server in servers:
            cells = _cells(server, clients, Path(folder) / server.name, page)
            for client, transport, cell in cells:
                differences = compare(server, cell)
                outcomes.add(server, client, transport, cell, differences)
                print(f"{server.name}, {client.name}, {transport}: {len(differences)} differences")
                for difference in differences:
                    print(f"  {difference}")
            outcomes.write()
    return 1 if outcomes.differing() else 0


def _cells(
    server: Server, clients: list[Client], folder: Path, page: str
) -> Iterator[tuple[Client, str, Cell]]:
    """Yield the cells of *server* with each of *clients*, and their transports."""
    for client in clients:
        yield client, "stdio", run_stdio(client, server, folder / client.name, page)
    if server.http is not None:
        place = Workplace.make(folder / "http", page)
        with http_modes(server, place) as urls:
            for client in clients:
                yield client, "http", run_http(client, server, urls, place)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
