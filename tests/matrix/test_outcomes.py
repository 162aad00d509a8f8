"""The recorded outcomes of the whole matrix, which the documentation shows."""

import json

from matrix.clients import CLIENTS
from matrix.outcomes import FILE, Outcomes, versions
from matrix.servers import SERVERS


def test_the_outcomes_are_of_the_locked_versions() -> None:
    """After a change of a lock, `make matrix` and `make docs` write the page anew."""
    assert versions() == json.loads(FILE.read_text(encoding="utf-8"))["versions"]


def test_nothing_differs() -> None:
    """Every outcome is of a client, a server and a transport of the matrix."""
    cells = {
        (server, client, transport)
        for server, clients in Outcomes.read().cells.items()
        for client, transports in clients.items()
        for transport in transports
    }

    assert cells <= {
        (name, client, transport)
        for name, server in SERVERS.items()
        for client in CLIENTS
        for transport in (["stdio"] if server.http is None else ["stdio", "http"])
    }
    assert [] == Outcomes.read().differing()
