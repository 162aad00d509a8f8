"""Which connection is admitted over HTTP, and which is closed for it."""

import pytest
from sidecheck_server.proxy.http_bounds import OpenConnections
from sidecheck_server.proxy.http_limits import HttpLimits

ALL = "too many connections are open (--max-connections)"
PEER = "too many connections of one address are open (--max-peer-connections)"


class Connection:
    """A connection that notes why it was closed."""

    def __init__(self) -> None:
        self.closed = ""

    def evict(self, note: str) -> None:
        """Note the limit."""
        self.closed = note


@pytest.mark.parametrize(
    ("address", "peer_connections", "expected"),
    [
        ("192.0.2.1", 2, [None, None, PEER]),
        ("2001:db8::1", 2, [None, None, PEER]),
        ("::ffff:192.0.2.1", 2, [None, None, PEER]),
        ("fe80::1%eth0", 2, [None, None, PEER]),
        ("192.0.2.1", 0, [None, None, None]),
        ("127.0.0.1", 2, [None, None, None]),
        ("127.0.0.6", 2, [None, None, None]),
        ("::1", 2, [None, None, None]),
        ("::ffff:127.0.0.1", 2, [None, None, None]),
    ],
)
def test_connections_of_one_address(
    address: str, peer_connections: int, expected: list[str | None]
) -> None:
    """They are bounded, but for addresses that all programs of this machine share."""
    limits = HttpLimits(connections=9, peer_connections=peer_connections)
    connections = OpenConnections(limits, patience_seconds=3600)
    outcomes = [connections.admit(Connection(), address) for _ in expected]

    assert expected == outcomes
    assert connections.admit(Connection(), "198.51.100.1") is None


def test_the_connection_that_waited_the_longest_makes_room() -> None:
    """One that waits for the server does not, and one that waits anew is the last."""
    connections = OpenConnections(HttpLimits(connections=3), patience_seconds=0)
    served, renewed, waiting, after, later, refused = (Connection() for _ in range(6))
    for connection in (served, renewed, waiting):
        assert connections.admit(connection, "127.0.0.1") is None
    connections.proceed(served)
    connections.wait(renewed)
    admitted = [connections.admit(each, "127.0.0.1") for each in (after, later)]
    for connection in (after, later):
        connections.proceed(connection)

    assert [None, None] == admitted
    assert ALL == connections.admit(refused, "127.0.0.1")
    assert ["", ALL, ALL, "", ""] == [
        each.closed for each in (served, renewed, waiting, after, later)
    ]
    connections.release(served)
    assert connections.admit(refused, "127.0.0.1") is None
    assert 3 == len(connections)


def test_a_peer_makes_room_for_itself() -> None:
    """Its own connection is closed, although another's has waited longer."""
    limits = HttpLimits(connections=9, peer_connections=1)
    connections = OpenConnections(limits, patience_seconds=0)
    other, own, following = Connection(), Connection(), Connection()
    connections.admit(other, "192.0.2.1")
    connections.admit(own, "192.0.2.2")

    assert connections.admit(following, "192.0.2.2") is None
    assert ["", PEER, ""] == [each.closed for each in (other, own, following)]
