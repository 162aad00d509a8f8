"""HTTP client that opens a new session in place of one that the server has ended.

Clause: 2025-03-26 to 2025-11-25, basic/transports, "Session Management": a server answers 404 to
requests of a session that it has ended, and the client begins another one. Some clients cannot.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import count

from sidecheck_server.core.types import Severity
from sidecheck_server.proxy.http.connections import HttpConnections
from sidecheck_server.proxy.http.encodings import EncodingError
from sidecheck_server.proxy.http.headers import (
    BODY_HEADERS,
    RawHeaders,
    build_request_headers,
    end_to_end_headers,
)
from sidecheck_server.proxy.http.sse import EventReader, EventTooLongError
from sidecheck_server.proxy.http.upstream import (
    BodyTooLargeError,
    Upstream,
    UpstreamError,
    UpstreamResponse,
)
from sidecheck_server.proxy.messages import Message, read_message, string_value
from sidecheck_server.proxy.report import Finding, Findings

__all__ = ["OnRenewed", "RenewingUpstream", "begin_anew"]

#: Receives the session id that the client uses.
OnRenewed = Callable[[str], Awaitable[None]]

_SESSION_HEADER = b"mcp-session-id"
_VERSION_HEADER = b"mcp-protocol-version"
_MAX_SESSIONS = 2_000
_MAX_INITIALIZE_BYTES = 64 << 10
"""Maximum size of a request ``initialize`` that is kept, and of a response to it."""

_RENEWAL_SECONDS = 10.0
_INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


@dataclass
class _Session:
    """A session of a client."""

    #: Id of the server's present session.
    id: bytes
    #: Request that opened it.
    initialize: Message
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    #: Whether the server answered 404 in a renewed session too.
    is_final: bool = False


class RenewingUpstream(Upstream):
    """HTTP client whose callers keep their session id when the server ends their session.

    A request that gets 404 is sent once more, in a new session. If that fails too, its caller gets
    the first 404. A renewal is a finding, `SESSION_RENEWED`.
    """

    def __init__(self, url: str, report: Findings) -> None:
        super().__init__(url)
        self._report = report
        self._sessions: OrderedDict[bytes, _Session] = OrderedDict()
        self._ids = count(1)
        #: Called after each renewal.
        self.on_renewed: OnRenewed | None = None

    async def send(
        self,
        method: str,
        target: bytes,
        headers: RawHeaders,
        body: bytes | AsyncIterator[bytes] | None,
    ) -> UpstreamResponse:
        """Send a request, in a new session if its session has ended; see `Upstream.send`."""
        client_id = _get(headers, _SESSION_HEADER)
        session = None if client_id is None else self._sessions.get(client_id)
        if client_id is None or session is None:
            response = await super().send(method, target, headers, body)
            if method == "POST" and client_id is None and isinstance(body, bytes):
                self._remember(body, response)
            return response
        self._sessions.move_to_end(client_id)
        id_ = session.id
        response = await super().send(method, target, _in_session(headers, id_), body)
        if body is not None and not isinstance(body, bytes):
            return _show(response, client_id)  # a body that is sent in pieces once
        # Servers without streams answer 404 to GET, and it says nothing about the session.
        if response.status != HTTPStatus.NOT_FOUND or method != "POST" or session.is_final:
            return _show(response, client_id)
        async with session.lock:
            is_renewed = session.id != id_
            if not is_renewed and await self._renew(session, target, headers):
                is_renewed = True
                if self.on_renewed is not None:
                    await self.on_renewed(client_id.decode("latin-1"))
        if not is_renewed:
            return _show(response, client_id)
        try:
            new_headers = _in_session(headers, session.id)
            repeated = await super().send(method, target, new_headers, body)
        except UpstreamError:
            return _show(response, client_id)
        if repeated.status == HTTPStatus.NOT_FOUND:
            # The server does not mean the session.
            session.is_final = True
            repeated.close()
            return _show(response, client_id)
        response.close()
        return _show(repeated, client_id)

    def _remember(self, body: bytes, response: UpstreamResponse) -> None:
        """Keep the request with *body* if *response* opens a session."""
        id_ = response.headers.get("mcp-session-id", "").encode("latin-1")
        if not (id_ and response.is_success and len(body) <= _MAX_INITIALIZE_BYTES):
            return
        message = read_message(body)
        if isinstance(message, Message) and message.method == "initialize":
            self._sessions[id_] = _Session(id_, message)
            if len(self._sessions) > _MAX_SESSIONS:
                self._sessions.popitem(last=False)

    async def _renew(self, session: _Session, target: bytes, headers: RawHeaders) -> bool:
        """Open a new session with the credentials in *headers*; return whether it succeeded."""
        version = _get(headers, _VERSION_HEADER)
        client_headers = _without(
            end_to_end_headers(headers, BODY_HEADERS), _SESSION_HEADER, _VERSION_HEADER
        )
        base = build_request_headers(client_headers, {})
        id_ = b'"sidecheck-session-%d"' % next(self._ids)
        request = session.initialize.with_property("id", id_)
        try:
            async with asyncio.timeout(_RENEWAL_SECONDS):
                response = await super().send("POST", target, base, request)
                try:
                    negotiated = await _read_version(response, id_)
                finally:
                    response.close()
                new_id = response.headers.get("mcp-session-id", "").encode("latin-1")
                if not new_id or not negotiated or version not in {None, negotiated}:
                    return False
                in_session = [*base, (_SESSION_HEADER, new_id), (_VERSION_HEADER, negotiated)]
                accepted = await super().send("POST", target, in_session, _INITIALIZED)
                accepted.close()
        except (
            UpstreamError,
            BodyTooLargeError,
            EncodingError,
            EventTooLongError,
            TimeoutError,
        ):
            return False
        if not accepted.is_success:
            return False
        session.id = new_id
        note = "the server ended the session; the proxy opened another one (--reconnect)"
        self._report.add(
            Finding(sender="server", code="SESSION_RENEWED", severity=Severity.WARNING, note=note)
        )
        return True


async def begin_anew(connections: HttpConnections, session_id: str) -> None:
    """Validate the next messages of *session_id* as those of another session of the server.

    Its tools are listed again, and ids of the server's requests may recur.
    """
    connection = connections.acquire({"mcp-session-id": session_id})
    try:
        connection.tools.expire()
        await connection.session.reset()
    finally:
        await connection.release()


async def _read_version(response: UpstreamResponse, id_: bytes) -> bytes:
    """Return the protocol version in *response* to ``initialize`` with *id_*, b"" without one."""
    if not response.is_success:
        return b""
    if response.media_type != "text/event-stream":
        return _version_in(await response.read(_MAX_INITIALIZE_BYTES), id_)
    reader = EventReader(_MAX_INITIALIZE_BYTES)
    async for chunk in response.decoded():
        for event in reader.feed(chunk):
            if version := _version_in(event.data or b"", id_):
                return version
    return b""


def _version_in(text: bytes, id_: bytes) -> bytes:
    message = read_message(text)
    if not isinstance(message, Message) or message.properties.get("id") != id_:
        return b""
    return string_value((message.result or {}).get("protocolVersion")).encode()


def _get(headers: RawHeaders, name: bytes) -> bytes | None:
    return next((value for key, value in headers if key.lower() == name), None)


def _without(headers: RawHeaders, *names: bytes) -> RawHeaders:
    return [(key, value) for key, value in headers if key.lower() not in names]


def _in_session(headers: RawHeaders, id_: bytes) -> RawHeaders:
    return [(key, id_ if key.lower() == _SESSION_HEADER else value) for key, value in headers]


def _show(response: UpstreamResponse, client_id: bytes) -> UpstreamResponse:
    """Return *response* with the session id that the client knows."""
    if "mcp-session-id" in response.headers:
        response.set_header(_SESSION_HEADER, client_id)
        response.headers = {**response.headers, "mcp-session-id": client_id.decode("latin-1")}
    return response
