"""Sessions over HTTP: one for all requests that name it, or one for a request by itself."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.proxy.messages import Message, join_array
from sidecheck_server.proxy.report import Direction
from sidecheck_server.proxy.rulings import Ruling
from sidecheck_server.proxy.session import ProxySession
from sidecheck_server.proxy.tool_source import ToolSource

__all__ = ["UNANSWERED", "Connection", "HttpConnections", "MakeSession", "ToolSources"]

UNANSWERED = "the server does not respond"
"""The error of a request without a response."""

_SESSION = "mcp-session-id"
_MOST_SESSIONS = 10_000


class MakeSession(Protocol):
    """Makes the session of a connection."""

    def __call__(
        self, tools: ToolSource, *, from_beginning: bool, protocol_version: str
    ) -> ProxySession:
        """Return a session with *tools*; see `ProxySession`."""
        ...


class ToolSources(Protocol):
    """The tools of a server, by who asks for them."""

    def of(self, headers: Mapping[str, str]) -> ToolSource:
        """Return the tools of who sends *headers*."""
        ...


class Connection:
    """A session, whose messages of one side are handled one at a time."""

    def __init__(self, session: ProxySession) -> None:
        self.session = session
        #: Whether other requests belong to it, too.
        self.is_kept = False
        #: Whether it is in the hands of a stream.
        self.is_streaming = False
        self._locks: dict[Direction, asyncio.Lock] = {
            "client": asyncio.Lock(),
            "server": asyncio.Lock(),
        }

    async def handle(self, text: bytes, sender: Direction) -> Ruling:
        """Return what becomes of the message *text* of *sender*."""
        async with self._locks[sender]:
            return await self.session.handle(text, sender)

    def take_open(self, message: Message | list[Message] | None) -> bytes | None:
        """Return the error for the request *message* if it has no response; it has one then."""
        requests = [message] if isinstance(message, Message) else message or []
        errors = self.session.answers_to_pending(UNANSWERED, requests)
        if not errors:
            return None
        return join_array(errors) if isinstance(message, list) else errors[0]

    async def release(self) -> None:
        """End the session unless other requests belong to it."""
        if not self.is_kept:
            await self.session.__aexit__(None, None, None)


class HttpConnections:
    """The sessions of all clients."""

    def __init__(self, tools: ToolSources, make_session: MakeSession) -> None:
        self._tools = tools
        self._make_session = make_session
        self._kept: OrderedDict[str, Connection] = OrderedDict()

    def of(
        self, headers: Mapping[str, str], message: Message | list[Message] | None = None
    ) -> Connection:
        """Return the session that *headers* name, or one for the request *message* by itself.

        Servers need not have sessions, so only ``initialize`` begins one.
        """
        known = self._kept.get(headers.get(_SESSION, ""))
        if known is not None:
            return known
        is_first = isinstance(message, Message) and message.method == "initialize"
        version = headers.get("mcp-protocol-version", "")
        session = self._make_session(
            self._tools.of(headers),
            from_beginning=is_first,
            protocol_version=version if version in VERSIONS and not is_first else "",
        )
        return Connection(session)

    async def keep(self, headers: Mapping[str, str], connection: Connection) -> None:
        """Let the requests with the session that *headers* name belong to *connection*."""
        id_ = headers.get(_SESSION)
        if id_ is None or id_ in self._kept:
            return
        self._kept[id_] = connection
        connection.is_kept = True
        if len(self._kept) > _MOST_SESSIONS:
            await self._end(next(iter(self._kept)))

    async def end(self, headers: Mapping[str, str]) -> None:
        """End the session that *headers* name."""
        await self._end(headers.get(_SESSION, ""))

    async def close(self) -> None:
        """End all sessions."""
        for id_ in [*self._kept]:
            await self._end(id_)

    async def _end(self, id_: str) -> None:
        connection = self._kept.pop(id_, None)
        if connection is not None:
            connection.is_kept = False
            await connection.release()
