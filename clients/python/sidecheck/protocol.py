"""Checks by the rules of the protocol, asynchronously."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from sidecheck.checks import (
    CheckItem,
    CheckOptions,
    Elicitation,
    ElicitationResult,
    ProtocolContext,
    ProtocolJson,
    ProtocolMessage,
    ResultProfile,
    Sampling,
    Sender,
    ToolResult,
)
from sidecheck.connections import Connection
from sidecheck.exchanges import SESSION
from sidecheck.findings import CheckedNames, CheckedTools, CheckOutcome, CheckResult, Rule
from sidecheck.forms import Form, asked
from sidecheck.items import ABSENT, Absent
from sidecheck.protocol_conversations import ProtocolConversations
from sidecheck.returned import NormalizedResult, Returned
from sidecheck.sessions import Session
from sidecheck.streams import OUTSTANDING
from sidecheck.targets import Document, Target, ToolDefinition, ToolJson

__all__ = ["ProtocolClient"]


class ProtocolClient:
    """Checks by the rules of the protocol: `Client.protocol`.

    *peers* says what is known of the two sides, the protocol version above all, and
    *options* how much is told. What is found wrong is an answer and returned. JSON
    given as ``bytes`` or ``str`` is JSON text and sent as it is; any other value is
    encoded. *timeout* is the deadline in seconds and stands for the client's own.

    Where no server answers, the client's ``on_unavailable`` holds for what returns a
    `CheckResult`, except in a session.

    All methods raise:

    * `SidecheckError`: nothing could be checked.
    * ``TypeError`` and ``ValueError``: JSON cannot express what was given.
    """

    def __init__(self, connection: Connection, conversations: ProtocolConversations) -> None:
        self._connection = connection
        self._conversations = conversations

    async def list_rules(
        self, protocol_version: str = "", *, timeout: float | None = None
    ) -> AsyncIterator[Rule]:
        """Yield the rules of a protocol version, or of all, by code.

        They come page by page, and *timeout* is the deadline of a page.
        """
        for page in self._conversations.rules(protocol_version, timeout):
            for rule in await self._connection.hold(page):
                yield rule

    async def check_names(
        self,
        names: Iterable[str],
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckedNames:
        """Check names of tools, each by itself and all together.

        There may be as many as `Limits.batch_items`. Of *peers* only the protocol
        version counts.
        """
        conversation = self._conversations.names(names, peers, options, timeout)
        return await self._connection.hold(conversation)

    async def check_tools(
        self,
        tools: bytes | str | Mapping[str, Any] | Iterable[ToolDefinition | ToolJson],
        *,
        documents: Iterable[Document] = (),
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckedTools:
        """Check tool definitions, each by itself and all together.

        *tools* is a listing: a whole ``tools/list`` answer, bare or in its JSON-RPC
        response, a list of definitions or one definition, as JSON text or as an object.
        Or it is an iterable of definitions, as in `Client.register`. *documents* are
        those that the schemas of a listing refer to. *options* holds for each tool.
        """
        conversation = self._conversations.tools(tools, documents, peers, options, timeout)
        return await self._connection.hold(conversation)

    async def check_elicitation(
        self,
        params: ProtocolJson | Form,
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check the ``params`` of an ``elicitation/create`` request.

        A model class of pydantic stands for the form that `sidecheck.elicitation.form`
        makes of it.
        """
        return await self._check(Elicitation(asked(params)), peers, options, timeout)

    async def check_elicitation_result(
        self,
        result: ProtocolJson,
        *,
        params: ProtocolJson | Form | None = None,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check the result of an ``elicitation/create`` request.

        Its content is judged under *params*, those of the request, if they are given.
        """
        item = ElicitationResult(result, None if params is None else asked(params))
        return await self._check(item, peers, options, timeout)

    async def check_sampling(
        self,
        params: ProtocolJson,
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check the ``params`` of a ``sampling/createMessage`` request, the whole history."""
        return await self._check(Sampling(params), peers, options, timeout)

    async def check_tool_result(
        self,
        result: ProtocolJson,
        *,
        profile: ResultProfile = "specification",
        tool: Target | None = None,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check a ``CallToolResult``; see `ToolResult`."""
        return await self._check(ToolResult(result, profile, tool), peers, options, timeout)

    async def normalize_tool_result(  # noqa: PLR0913 - the fields of the request.
        self,
        value: Any = ABSENT,
        *,
        content: Any = ABSENT,
        result: Any = ABSENT,
        error: str | BaseException | Absent = ABSENT,
        tool: Target | None = None,
        profile: ResultProfile = "specification",
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> NormalizedResult:
        """Make a ``CallToolResult`` of what a tool returned, as the protocol version wants it.

        Give exactly one of four; nothing is guessed from the form of a value:

        * *value*: data. A `JsonText` is JSON text; any other value is one of Python, as
          `sidecheck.json_values.json_value` turns it: a ``str`` is text, ``bytes`` become
          Base64.
        * *content*: one content block or a list of them, as JSON, JSON text, or objects of
          an SDK.
        * *result*: a whole result, likewise; its structured content is as the tool's
          definition has it.
        * *error*: what went wrong, as text or an exception.

        The result is checked last: in place of one that breaks the protocol, or the output
        schema of *tool*, stands one with ``isError`` that says where. Of *peers* only the
        protocol version counts. Where no server answers, `Unavailable` is raised, whatever
        the client's ``on_unavailable`` says.
        """
        returned = Returned(
            value=value, content=content, result=result, error=error, tool=tool, profile=profile
        )
        conversation = self._conversations.normalize(returned, peers, options, timeout)
        return await self._connection.hold(conversation)

    async def check_message(
        self,
        message: ProtocolJson,
        *,
        sender: Sender = "",
        answers: str = "",
        request: ProtocolJson | None = None,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check a JSON-RPC message, or a JSON-RPC batch; see `ProtocolMessage`."""
        item = ProtocolMessage(message, sender, answers, request)
        return await self._check(item, peers, options, timeout)

    async def check_batch(
        self,
        items: Iterable[CheckItem],
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> list[CheckOutcome]:
        """Check many things of several kinds and answer in their order.

        A refusal of one is returned in its place. A batch beyond the server's limits
        goes in several calls, and *timeout* is the deadline of each.
        """
        conversation = self._conversations.batch(items, peers, options, timeout)
        return await self._connection.hold(conversation)

    def session(
        self,
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> Session:
        """Return a session, to be entered with ``async with``.

        *peers* is what is known before its first message; if no protocol version is
        named, the one that the session agrees on holds. No more than *outstanding*
        messages are on their way at a time. *timeout* is the deadline of the session
        as a whole; without one it may last for ever.

        Raises:
            ValueError: *outstanding* is not positive.
        """
        opening = self._conversations.session(peers, options)
        return Session(self._connection.stream(SESSION, opening, outstanding, timeout))

    async def _check(
        self,
        item: CheckItem,
        peers: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> CheckResult:
        conversation = self._conversations.check(item, peers, options, timeout)
        return await self._connection.hold(conversation)
