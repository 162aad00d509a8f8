"""TLS in front of a PostgreSQL server that may lack TLS support."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread

from conformance.certificates import Certificates

__all__ = ["tls_before"]

_REQUEST = b"\0\0\0\x08\x04\xd2\x16\x2f"
"""The client's request for TLS; the answer is one byte
(https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-SSL)."""


@contextmanager
def tls_before(path: Path, certificates: Certificates) -> Iterator[int]:
    """Accept connections with TLS for the server on the unix socket *path*.

    Yields the port, of localhost. All connections must be closed when the block ends.
    """
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificates.server, certificates.server_key)

    class Connection(BaseRequestHandler):
        def handle(self) -> None:
            assert self.request.recv(len(_REQUEST), socket.MSG_WAITALL) == _REQUEST
            self.request.sendall(b"S")
            with (
                suppress(OSError),  # such as a client that does not trust the certificate
                context.wrap_socket(self.request, server_side=True) as client,
                socket.socket(socket.AF_UNIX) as server,
            ):
                server.connect(str(path))
                _copy_both_ways(client, server)

    with ThreadingTCPServer(("127.0.0.1", 0), Connection) as accepting:
        thread = Thread(target=accepting.serve_forever)
        thread.start()
        try:
            yield accepting.server_address[1]
        finally:
            accepting.shutdown()
            thread.join()


def _copy_both_ways(client: ssl.SSLSocket, server: socket.socket) -> None:
    """Copy bytes in both directions until one side ends."""
    while True:
        ready = [client] if client.pending() else select([client, server], [], [])[0]
        for source in ready:
            part = source.recv(1 << 16)
            if not part:
                return
            (server if source is client else client).sendall(part)
