"""Attacks on the stop of a server."""

import os
import signal
from contextlib import suppress

import psutil
from resilience.http2 import Peer, announce

__all__ = ["call_without_end", "call_without_reading", "flood_pings", "stop_workers"]

_LIST_TOOLS = "/sidecheck.v1.RegistryService/ListTools"
_INFO = "/sidecheck.v1.InfoService/GetServerInfo"
_SEND_SECONDS = 2.0


def flood_pings(address: str, connections: int, pings: int) -> list[Peer]:
    """Send *pings* on each of a number of *connections*, and return the connections.

    The answers to the pings are not read, so gRPC cannot finish sending GOAWAY, and waits.
    """
    opened = [Peer(address) for _ in range(connections)]
    for connection in opened:
        connection.call(_INFO, announce(0))
        connection.socket.settimeout(_SEND_SECONDS)
        with suppress(OSError):  # the server stops reading
            connection.ping(pings)
    return opened


def call_without_reading(address: str, count: int) -> list[Peer]:
    """Make *count* calls without a window for responses, and return the connection."""
    connection = Peer(address, window=0)
    for _ in range(count):
        connection.call(_INFO, announce(0))
    return [connection]


def call_without_end(address: str, count: int) -> list[Peer]:
    """Make *count* calls with messages that never end, and return the connection."""
    connection = Peer(address)
    for _ in range(count):
        connection.call(_LIST_TOOLS, announce(1 << 20) + bytes(100), end=False)
    return [connection]


def stop_workers(server: int) -> list[psutil.Process]:
    """Send SIGSTOP to the workers of the process *server*, and return them."""
    workers = [
        child
        for child in psutil.Process(server).children()
        if "--multiprocessing-fork" in child.cmdline()
    ]
    for worker in workers:
        os.kill(worker.pid, signal.SIGSTOP)
    return workers
