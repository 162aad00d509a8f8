"""The asynchronous client."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from sidecheck.absence import OnUnavailable
from sidecheck.connections import Connection
from sidecheck.conversations import Conversations
from sidecheck.conversion import ConversionClient
from sidecheck.conversion_conversations import ConversionConversations
from sidecheck.exchanges import PAYLOADS
from sidecheck.inference_client import InferenceClient
from sidecheck.inference_conversations import InferenceConversations
from sidecheck.info import ServerInfo
from sidecheck.items import Item
from sidecheck.options import Options
from sidecheck.protocol import ProtocolClient
from sidecheck.protocol_conversations import ProtocolConversations
from sidecheck.streams import OUTSTANDING, Stream
from sidecheck.targets import Target
from sidecheck.tool_functions import Registrable, listed
from sidecheck.tools import ChangePolicy, Deletion, Registration, Tool
from sidecheck.validators import Validator
from sidecheck.verdicts import Verdict
from sidecheck.wire.responses import Judgement

__all__ = ["Client"]


class Client(Validator):
    """Asks a server, asynchronously.

    *address* is ``host:port``, ``dns:///host:port``, ``unix:/path`` or ``unix:path``.
    Every call has a deadline of *timeout* seconds, and within it ``UNAVAILABLE`` is
    tried again three times. *on_unavailable* says what becomes of a judgement when
    no server answers even so: `Unavailable` is raised ("raise"), or the verdict is
    valid with a warning ("allow") or invalid ("deny"), the code of which is
    ``SIDECHECK_UNAVAILABLE``.

    One client serves any number of tasks of one event loop: the one that runs at
    its first call.

    Raises:
        ValueError: An argument is none of these.
    """

    def __init__(
        self, address: str, *, timeout: float = 2.0, on_unavailable: OnUnavailable = "raise"
    ) -> None:
        self._connection = Connection(address)
        self._conversations = Conversations(timeout, on_unavailable)

    @property
    def protocol(self) -> ProtocolClient:
        """What checks by the rules of the protocol: names, tools, messages and others."""
        return ProtocolClient(self._connection, ProtocolConversations(self._conversations))

    @property
    def conversion(self) -> ConversionClient:
        """What turns tools, calls and results into the forms of providers' APIs, and back."""
        return ConversionClient(self._connection, ConversionConversations(self._conversations))

    @property
    def inference(self) -> InferenceClient:
        """What infers definitions, and gives them the forms that protocol versions want."""
        return InferenceClient(self._connection, InferenceConversations(self._conversations))

    async def validate_batch(
        self,
        items: Iterable[Item],
        *,
        target: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> list[Judgement]:
        """Judge many payloads and answer in their order; see `Validator.validate_batch`."""
        return await self._connection.hold(
            self._conversations.validate_batch(items, target, options, timeout)
        )

    def stream(
        self,
        *,
        target: Target | None = None,
        options: Options | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> Stream[Item, Judgement]:
        """Return a stream, to be entered with ``async with``; see `Validator.stream`.

        Entering asks for the server's limits, with the deadline and the retries of any
        call; the stream itself is not tried again.
        """
        opening = self._conversations.stream(target, options, None)
        return self._connection.stream(PAYLOADS, opening, outstanding, timeout)

    async def register(
        self,
        server: str,
        tools: Iterable[Registrable] | Callable[..., Any],
        *functions: Callable[..., Any],
        replace: bool = False,
        change_policy: ChangePolicy = "accept",
        validate_only: bool = False,
        protocol_version: str = "",
        timeout: float = 30.0,
    ) -> Registration:
        """Register the tools of *server*, or with *validate_only* tell what would happen.

        A tool is a definition as in a ``tools/list`` answer, or a `ToolDefinition` where
        documents come with it, or a function that is a tool (`sidecheck.inference.tool`);
        functions may also stand by themselves: ``register("weather", add, subtract)``. They
        are checked by the rules of *protocol_version*, or of the server's default.

        With *replace* they are the whole set: other tools of the server are removed.
        Tools that one message cannot hold go in several, and *timeout* is the
        deadline of each; what an earlier one registered stays if a later one fails.

        Raises:
            Refused: The registration as a whole was refused.
            ValueError: A tool, or a replacement as a whole, does not fit into a
                message; nothing was sent.
            TypeError: A function is no tool.
        """
        return await self._connection.hold(
            self._conversations.register(
                server,
                listed(tools, functions),
                replace=replace,
                change_policy=change_policy,
                validate_only=validate_only,
                protocol_version=protocol_version,
                timeout=timeout,
            )
        )

    async def get(self, server: str, name: str, *, timeout: float | None = None) -> Tool:
        """Return a registered tool.

        Raises:
            Refused: There is none of that name, or nobody could tell.
        """
        return await self._connection.hold(self._conversations.get(server, name, timeout))

    async def delete(
        self, server: str, names: Iterable[str], *, timeout: float | None = None
    ) -> Deletion:
        """Remove the tools of *server* that are called *names*, which must be some.

        Raises:
            Refused: Nothing was removed.
        """
        return await self._connection.hold(self._conversations.delete(server, names, timeout))

    async def delete_all(self, server: str, *, timeout: float | None = None) -> Deletion:
        """Remove every tool of *server*.

        Raises:
            Refused: Nothing was removed.
        """
        return await self._connection.hold(self._conversations.delete(server, None, timeout))

    async def info(self, *, timeout: float | None = None) -> ServerInfo:
        """Return what the server is and what it accepts.

        Raises:
            Refused: Nobody could tell.
        """
        return await self._connection.hold(self._conversations.info(timeout))

    async def list(
        self, server: str | None = None, *, timeout: float | None = None
    ) -> AsyncIterator[Tool]:
        """Yield the registered tools, of one server or of all, by server and name.

        They come page by page, and *timeout* is the deadline of a page.

        Raises:
            Refused: Nobody could tell.
        """
        for page in self._conversations.pages(server, timeout):
            for tool in await self._connection.hold(page):
                yield tool

    async def close(self) -> None:
        """Close the connection; calls under way are cancelled."""
        await self._connection.close()

    async def _judge(self, item: Item, timeout: float | None) -> Verdict:
        return await self._connection.hold(self._conversations.validate(item, timeout))
