"""Sessions over HTTP, shared by the requests that have the same session id.

A request without a session id has a session of its own.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Mapping
from typing import Protocol

from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.proxy.messages import (
    Direction,
    Message,
    Received,
    RequestId,
    join_array,
    read_list,
)
from sidecheck_server.proxy.rulings.listing_pages import ToolSource
from sidecheck_server.proxy.rulings.ruling import Ruling
from sidecheck_server.proxy.rulings.session import ProxySession

__all__ = ["UNANSWERED", "Connection", "HttpConnections", "MakeSession", "ToolSources"]

UNANSWERED = "the server does not respond"
"""Text of the error for a request that the server did not respond to."""

_SESSION_HEADER = "mcp-session-id"
_MAX_LATER_RESPONSES = 1_000
_MAX_SESSIONS = 2_000
"""Maximum number of sessions, each of which takes some 40 KB and the definitions of its tools."""


class MakeSession(Protocol):
    """Factory of sessions."""

    def __call__(
        self, tools: ToolSource, *, from_beginning: bool, protocol_version: str
    ) -> ProxySession:
        """Return a session with *tools*; see `ProxySession`."""
        ...


class ToolSources(Protocol):
    """Tools of a server, for each of its clients."""

    def find_tools(self, headers: Mapping[str, str]) -> ToolSource:
        """Return the tools of the client that sends *headers*."""
        ...

    def create_tools(self) -> ToolSource:
        """Return the tools for a session at its beginning."""
        ...


class Connection:
    """A session, which handles the messages of each side one at a time.

    It ends when it is not kept and every request that acquired it has released it.
    """

    def __init__(self, session: ProxySession, tools: ToolSource, *, is_new: bool = False) -> None:
        self.session = session
        self.tools = tools
        #: Whether its first message is the first of the session.
        self.is_new = is_new
        #: Whether later requests may belong to it.
        self.is_kept = False
        self._holders = 0
        #: Requests whose responses come in another stream, the oldest first.
        self._later: deque[Message] = deque()
        self._locks: dict[Direction, asyncio.Lock] = {
            "client": asyncio.Lock(),
            "server": asyncio.Lock(),
        }

    async def handle(
        self, received: Received, sender: Direction, awaited: RequestId | None = None
    ) -> Ruling:
        """Return the ruling on the *received* message of *sender*; see `ProxySession.handle`."""
        async with self._locks[sender]:
            return await self.session.handle(received, sender, awaited=awaited)

    def fail(
        self, message: Message | list[Message] | None, reason: str = UNANSWERED
    ) -> list[bytes]:
        """Return an error with *reason* for each request in *message* without a response.

        These requests are no longer pending then.
        """
        requests = [message] if isinstance(message, Message) else message or []
        return self.session.fail_pending(reason, requests)

    def answer(
        self,
        message: Message | list[Message] | None,
        *replies: bytes | None,
        reason: str = UNANSWERED,
    ) -> bytes | None:
        """Return *replies* to *message*, and errors as those of `fail`.

        The result is an array for a batch, and None if there is nothing to return.
        """
        answers = [reply for reply in replies if reply is not None]
        answers += self.fail(message, reason)
        if not answers:
            return None
        if not isinstance(message, list):
            return answers[0]
        return join_array(item for answer in answers for item in read_list(answer) or [answer])

    def await_response(self, message: Message | list[Message] | None) -> None:
        """Keep the requests in *message* pending, for responses in another stream.

        Beyond 1,000 such requests, the oldest is no longer pending.
        """
        requests = [message] if isinstance(message, Message) else message or []
        for request in requests:
            if request.is_request:
                # Without the text, which may be large.
                properties = {name: request.properties[name] for name in ("id", "method")}
                self._later.append(Message(b"", properties))
        while len(self._later) > _MAX_LATER_RESPONSES:
            self.fail(self._later.popleft())

    def acquire(self) -> None:
        """Keep the session open until a matching call of `release`."""
        self._holders += 1

    async def release(self) -> None:
        """Release the session; end it if it is unused and not kept."""
        self._holders -= 1
        await self.end_unused()

    async def end_unused(self) -> None:
        """End the session if it is unused and not kept."""
        if not (self._holders or self.is_kept):
            await self.session.__aexit__(None, None, None)


class HttpConnections:
    """Sessions of all clients; beyond 2,000, the least recently used ones end."""

    def __init__(self, tools: ToolSources, make_session: MakeSession) -> None:
        self._tools = tools
        self._make_session = make_session
        self._connections: OrderedDict[str, Connection] = OrderedDict()

    def acquire(
        self, headers: Mapping[str, str], message: Message | list[Message] | None = None
    ) -> Connection:
        """Return the session of *message* with *headers*; the caller must release it."""
        id_ = headers.get(_SESSION_HEADER)
        connection = self._connections.get(id_ or "")
        if connection is not None:
            self._connections.move_to_end(id_ or "")
        else:
            is_new = isinstance(message, Message) and message.method == "initialize"
            version = headers.get("mcp-protocol-version", "")
            # A server may list different tools in each session of a client.
            tools = self._tools.create_tools() if is_new else self._tools.find_tools(headers)
            session = self._make_session(
                tools,
                # Servers may lack sessions, so any other request joins mid-session.
                from_beginning=is_new,
                protocol_version=version if version in VERSIONS and not is_new else "",
            )
            connection = Connection(session, tools, is_new=is_new)
        connection.acquire()
        return connection

    async def keep(self, headers: Mapping[str, str], connection: Connection) -> None:
        """Keep *connection* for later requests with the session id in *headers*."""
        id_ = headers.get(_SESSION_HEADER)
        if id_ is None or (id_ in self._connections and not connection.is_new):
            return
        if self._connections.get(id_) is not connection:
            # The server reuses the id of a session that it has forgotten.
            await self._end(id_)
        self._connections[id_] = connection
        connection.is_kept = True
        if len(self._connections) > _MAX_SESSIONS:
            await self._end(next(iter(self._connections)))

    async def end(self, headers: Mapping[str, str]) -> None:
        """End the session that *headers* name, after its last release."""
        await self._end(headers.get(_SESSION_HEADER, ""))

    async def close(self) -> None:
        """End all sessions."""
        for id_ in [*self._connections]:
            await self._end(id_)

    async def _end(self, id_: str) -> None:
        connection = self._connections.pop(id_, None)
        if connection is not None:
            connection.is_kept = False
            await connection.end_unused()
