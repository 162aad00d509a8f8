"""Sockets that HTTP servers listen on."""

import socket

__all__ = ["open_listener"]

_BACKLOG = 2048


def open_listener(host: str, port: int) -> socket.socket:
    """Return a socket that listens on *host* and *port*, so that whoever is told can connect.

    Raises:
        OSError: the address cannot be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns off the delay of small segments only where the protocol is named. With it, a
    # response of several writes waits 40 milliseconds for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
