"""Connection to a server over HTTP for the relay over stdio."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sidecheck_server.proxy.http.headers import RawHeaders
from sidecheck_server.proxy.http.session_renewal import RenewingUpstream
from sidecheck_server.proxy.http.upstream import Upstream
from sidecheck_server.proxy.options import ProxyOptions
from sidecheck_server.proxy.remote.server import RemoteServer
from sidecheck_server.proxy.remote.words import ServerWords
from sidecheck_server.proxy.report import Findings
from sidecheck_server.proxy.stdio.renewals import Renewals

__all__ = ["connect_remote", "secrets_of"]

_MAX_AUDITED_BYTES = 1 << 30
"""Maximum size of a message in audit, in which larger messages than the limit pass."""

_SECRET_HEADERS = (b"authorization", b"cookie")


@asynccontextmanager
async def connect_remote(
    url: str,
    headers: RawHeaders,
    options: ProxyOptions,
    report: Findings,
    renewals: Renewals,
) -> AsyncIterator[RemoteServer]:
    """Yield the server at *url*, which gets *headers* with each request."""
    upstream = RenewingUpstream(url, report) if options.reconnect else Upstream(url)
    server = RemoteServer(
        upstream,
        ServerWords(url, secrets_of(headers)),
        headers,
        report,
        options.max_message_bytes if options.enforces else _MAX_AUDITED_BYTES,
    )

    async def begin_anew(_session_id: str) -> None:
        await renewals.begin_anew()
        server.listen_again()

    if isinstance(upstream, RenewingUpstream):
        upstream.on_renewed = begin_anew
    try:
        yield server
    finally:
        await server.end()
        await upstream.close()


def secrets_of(headers: RawHeaders) -> list[str]:
    """Return the values of *headers* that are secrets, without their schemes."""
    return [_without_scheme(value) for name, value in headers if _is_secret(name)]


def _is_secret(name: bytes) -> bool:
    return name.lower() in _SECRET_HEADERS or any(
        word in name.lower() for word in (b"key", b"token", b"secret")
    )


def _without_scheme(value: bytes) -> str:
    """Return the credentials in *value* without their scheme (RFC 9110, section 11.4)."""
    return value.decode("utf-8", "replace").rpartition(" ")[2]
