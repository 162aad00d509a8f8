"""Which connection is admitted over HTTP, and which is closed for it."""

import pytest
from sidecheck_server.http_servers.connections import Bound, ConnectionLimits, OpenConnections

ALL = Bound.CONNECTIONS
PEER = Bound.PEER_CONNECTIONS


def limits(
    connections: int, *, reserve: int = 0, peer_connections: int = 0, patience_seconds: float = 0.0
) -> ConnectionLimits:
    """Return limits of connections alone."""
    return ConnectionLimits(
        connections=connections,
        reserve=reserve,
        peer_connections=peer_connections,
        patience_seconds=patience_seconds,
        head_seconds=1.0,
    )


class Connection:
    """A connection that notes why it was closed."""

    def __init__(self) -> None:
        self.closed: Bound | None = None

    def evict(self, bound: Bound) -> None:
        """Note the limit."""
        self.closed = bound


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
    address: str, peer_connections: int, expected: list[Bound | None]
) -> None:
    """They are bounded, but for addresses that all programs of this machine share."""
    connections = OpenConnections(
        limits(9, peer_connections=peer_connections, patience_seconds=3600)
    )
    outcomes = [connections.admit(Connection(), address) for _ in expected]

    assert expected == outcomes
    assert connections.admit(Connection(), "198.51.100.1") is None


def test_the_longest_idle_connection_is_closed() -> None:
    """Connections that wait for the server stay; a renewed wait counts from its start."""
    connections = OpenConnections(limits(3))
    served, renewed, waiting, after, later, refused = (Connection() for _ in range(6))
    for connection in (served, renewed, waiting):
        assert connections.admit(connection, "127.0.0.1") is None
    connections.proceed(served)
    connections.wait(renewed)
    admitted = [connections.admit(connection, "127.0.0.1") for connection in (after, later)]
    for connection in (after, later):
        connections.proceed(connection)

    assert [None, None] == admitted
    assert ALL == connections.admit(refused, "127.0.0.1")
    assert [None, ALL, ALL, None, None] == [
        connection.closed for connection in (served, renewed, waiting, after, later)
    ]
    connections.release(served)
    assert connections.admit(refused, "127.0.0.1") is None
    assert 3 == len(connections)


def test_the_limit_of_a_peer_closes_its_own_connection() -> None:
    """A connection of another peer has waited longer, and stays."""
    connections = OpenConnections(limits(9, peer_connections=1))
    foreign, own, following = Connection(), Connection(), Connection()
    connections.admit(foreign, "192.0.2.1")
    connections.admit(own, "192.0.2.2")

    assert connections.admit(following, "192.0.2.2") is None
    assert [None, PEER, None] == [connection.closed for connection in (foreign, own, following)]


def test_a_reserve_beyond_connections_that_are_served() -> None:
    """A connection in the reserve is closed for the next, so idle ones do not exhaust it."""
    connections = OpenConnections(limits(2, reserve=1))
    served, also_served, spare, following = (Connection() for _ in range(4))
    for connection in (served, also_served):
        connections.admit(connection, "127.0.0.1")
        connections.proceed(connection)
    outcomes = [connections.admit(connection, "127.0.0.1") for connection in (spare, following)]
    connections.proceed(following)

    assert [None, None] == outcomes
    assert [None, None, ALL, None] == [
        connection.closed for connection in (served, also_served, spare, following)
    ]
    assert ALL == connections.admit(Connection(), "127.0.0.1")
    assert 3 == len(connections)
