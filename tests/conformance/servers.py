"""The servers that the clients' tests call, and the file that names them.

The file is JSON: ``servers`` has addresses by name; ``tls`` the paths of the authority's
certificate, of another authority's, and of a client's certificate and key, which the server
``tls`` requires;
``cases`` the path of the cases; ``results`` the path to write the outcome of each to;
``serve`` the command that starts a server, to which flags can be added.
"""

import asyncio
import json
import ssl
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from support.running import RunningServer

from conformance.cases import write_cases
from conformance.certificates import Authority, Certificates, make_certificates
from conformance.faults import faulty_servers

__all__ = ["running_servers"]


@contextmanager
def running_servers(folder: Path) -> Iterator[Path]:
    """Run all servers, write the cases to *folder*, and yield the path of the settings."""
    real = RunningServer(folder)
    certificates = make_certificates(folder)
    other_authority = folder / "other_ca.pem"
    other_authority.write_bytes(Authority().pem)
    try:
        with _in_thread(real.address, certificates) as addresses:
            servers = {
                "real": real.address,
                "unix": real.unix_address,
                "no_socket": f"unix:{folder}/none.sock",
                # By its address, as another address of the name may refuse connections.
                "tls_address": addresses["tls"].replace("localhost", "127.0.0.1"),
                **addresses,
            }
            cases = folder / "cases.jsonl"
            write_cases(cases, servers)
            settings = folder / "conformance.json"
            settings.write_text(
                json.dumps(
                    {
                        "servers": servers,
                        "tls": {
                            "ca": str(certificates.authority),
                            "other_ca": str(other_authority),
                            "certificate": str(certificates.client),
                            "key": str(certificates.client_key),
                        },
                        "cases": str(cases),
                        "results": str(folder / "results.jsonl"),
                        "serve": [
                            *(sys.executable, "-m", "sidecheck_server", "serve"),
                            *("--log-format", "json"),
                        ],
                    },
                    indent=1,
                )
            )
            yield settings
    finally:
        real.close()


@contextmanager
def _in_thread(address: str, certificates: Certificates) -> Iterator[dict[str, str]]:
    """Run the servers of this process on an event loop in a thread of its own."""
    addresses: dict[str, str] = {}
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()
    failures: list[BaseException] = []

    async def serve() -> None:
        async with faulty_servers(address) as faulty, _tls_proxy(address, certificates) as tls:
            addresses.update(faulty, tls=tls)
            ready.set()
            await stop.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        except BaseException as failure:  # noqa: BLE001  (raised by the starting thread)
            failures.append(failure)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="conformance-servers")
    thread.start()
    ready.wait()
    try:
        if not failures:
            yield addresses
    finally:
        if thread.is_alive():
            loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
    if failures:
        raise failures[0]


@asynccontextmanager
async def _tls_proxy(address: str, certificates: Certificates) -> AsyncIterator[str]:
    """Terminate TLS, with certificates of clients required, before the server at *address*."""
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=certificates.authority)
    context.load_cert_chain(certificates.server, certificates.server_key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])
    relays: set[asyncio.Task[None]] = set()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        relays.add(task)
        task.add_done_callback(relays.discard)
        upstream_reader, upstream_writer = await asyncio.open_connection(host, int(port))
        try:
            await asyncio.gather(_copy(reader, upstream_writer), _copy(upstream_reader, writer))
        except asyncio.CancelledError:
            pass  # The proxy stops; asyncio would log a cancelled handler.
        finally:
            writer.transport.abort()
            upstream_writer.transport.abort()

    server = await asyncio.start_server(relay, "127.0.0.1", 0, ssl=context)
    try:
        yield f"localhost:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in [*relays]:
            task.cancel()
        await asyncio.gather(*relays, return_exceptions=True)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError, ssl.SSLError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.transport.abort()
