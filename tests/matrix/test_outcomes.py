"""The recorded outcomes of the whole matrix, which the documentation shows."""

import json

from matrix.clients import CLIENTS
from matrix.outcomes import FILE, Outcomes, versions
from matrix.servers import SERVERS


def test_the_outcomes_are_of_the_locked_versions() -> None:
    """After a change of a lock, `make matrix` and `make docs` write the page anew."""
    assert versions() == json.loads(FILE.read_text(encoding="utf-8"))["versions"]


def test_every_cell_was_run() -> None:
    """Nothing differs."""
    cells = {
        (server, client): set(transports)
        for server, clients in Outcomes.read().cells.items()
        for client, transports in clients.items()
    }

    assert {
        (name, client): {"stdio"} | ({"http"} if server.http is not None else set())
        for name, server in SERVERS.items()
        for client in CLIENTS
    } == cells
    assert [] == Outcomes.read().differing()
