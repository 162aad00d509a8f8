"""Sessions over HTTP: one for all requests that name it, or one for a request by itself."""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from typing import Protocol

from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.proxy.listing_pages import ToolSource
from sidecheck_server.proxy.messages import Direction, Message, Received, join_array, read_list
from sidecheck_server.proxy.rulings import Ruling
from sidecheck_server.proxy.session import ProxySession

__all__ = ["UNANSWERED", "Connection", "HttpConnections", "MakeSession", "ToolSources"]

UNANSWERED = "the server does not respond"
"""The error of a request without a response."""

_SESSION = "mcp-session-id"
_MOST_SESSIONS = 2_000
"""Each takes some 40 KB, and the definitions of its tools."""


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

    def make(self) -> ToolSource:
        """Return tools for a session that begins."""
        ...


class Connection:
    """A session, whose messages of one side are handled one at a time.

    It ends when it is not kept and all who have it have released it.
    """

    def __init__(self, session: ProxySession, tools: ToolSource, *, begins: bool = False) -> None:
        self.session = session
        self.tools = tools
        #: Whether it begins with the first message of a session.
        self.begins = begins
        #: Whether other requests may belong to it, too.
        self.is_kept = False
        self._holders = 0
        self._locks: dict[Direction, asyncio.Lock] = {
            "client": asyncio.Lock(),
            "server": asyncio.Lock(),
        }

    async def handle(self, received: Received, sender: Direction) -> Ruling:
        """Return what becomes of the message of *sender* that was *received*."""
        async with self._locks[sender]:
            return await self.session.handle(received, sender)

    def answer(
        self, message: Message | list[Message] | None, *replies: bytes | None
    ) -> bytes | None:
        """Return *replies* to *message*, with errors for its requests without a response.

        These have one then. None if there is nothing to return; an array for a batch.
        """
        requests = [message] if isinstance(message, Message) else message or []
        answers = [reply for reply in replies if reply is not None]
        answers += self.session.answers_to_pending(UNANSWERED, requests)
        if not answers:
            return None
        if not isinstance(message, list):
            return answers[0]
        return join_array(item for answer in answers for item in read_list(answer) or [answer])

    def acquire(self) -> None:
        """Keep the session open until `release` is called once more."""
        self._holders += 1

    async def release(self) -> None:
        """End the session if nobody else has it and no other requests belong to it."""
        self._holders -= 1
        await self.end_unused()

    async def end_unused(self) -> None:
        """End the session if nobody has it and it is not kept."""
        if not (self._holders or self.is_kept):
            await self.session.__aexit__(None, None, None)


class HttpConnections:
    """The sessions of all clients; beyond 2,000, those that were not used the longest end."""

    def __init__(self, tools: ToolSources, make_session: MakeSession) -> None:
        self._tools = tools
        self._make_session = make_session
        self._kept: OrderedDict[str, Connection] = OrderedDict()

    def acquire(
        self, headers: Mapping[str, str], message: Message | list[Message] | None = None
    ) -> Connection:
        """Return the session of *message* with *headers*; `Connection.release` it."""
        id_ = headers.get(_SESSION)
        connection = self._kept.get(id_ or "")
        if connection is not None:
            self._kept.move_to_end(id_ or "")
        else:
            begins = isinstance(message, Message) and message.method == "initialize"
            version = headers.get("mcp-protocol-version", "")
            # A session may be listed other tools than another of the same client.
            tools = self._tools.make() if begins else self._tools.of(headers)
            session = self._make_session(
                tools,
                # Servers need not have sessions, so only `initialize` begins one.
                from_beginning=begins,
                protocol_version=version if version in VERSIONS and not begins else "",
            )
            connection = Connection(session, tools, begins=begins)
        connection.acquire()
        return connection

    async def keep(self, headers: Mapping[str, str], connection: Connection) -> None:
        """Let the requests with the session that *headers* name belong to *connection*."""
        id_ = headers.get(_SESSION)
        if id_ is None or (id_ in self._kept and not connection.begins):
            return
        if self._kept.get(id_) is not connection:
            # The server gives the id of a session that it does not know.
            await self._end(id_)
        self._kept[id_] = connection
        connection.is_kept = True
        if len(self._kept) > _MOST_SESSIONS:
            await self._end(next(iter(self._kept)))

    async def end(self, headers: Mapping[str, str]) -> None:
        """End the session that *headers* name, as soon as all have released it."""
        await self._end(headers.get(_SESSION, ""))

    async def close(self) -> None:
        """End all sessions."""
        for id_ in [*self._kept]:
            await self._end(id_)

    async def _end(self, id_: str) -> None:
        connection = self._kept.pop(id_, None)
        if connection is not None:
            connection.is_kept = False
            await connection.end_unused()
