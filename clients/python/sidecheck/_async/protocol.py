"""The calls of ProtocolService."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import AsyncIterator, Iterable
from functools import partial
from typing import Any

from sidecheck._async.connection import Connection
from sidecheck._async.session import Session
from sidecheck.protocol import (
    CheckedNames,
    CheckedTools,
    CheckItem,
    CheckOptions,
    CheckOutcome,
    CheckResult,
    Elicitation,
    ElicitationResult,
    Form,
    ProtocolContext,
    ProtocolJson,
    ProtocolMessage,
    ResultProfile,
    Rule,
    Sampling,
    Sender,
    ToolResult,
    elicitation_params,
    fill_context_version,
)
from sidecheck.return_values import NormalizedResult, ReturnValue
from sidecheck.streams import OUTSTANDING, SESSION
from sidecheck.targets import Document, Target, ToolJson
from sidecheck.tool_lists import Definition
from sidecheck.validation import ABSENT, Absent
from sidecheck.values.verdict import Verdict
from sidecheck.wire import normalization, protocol, tool_checks

__all__ = ["ProtocolClient"]


class ProtocolClient:
    """Checks messages and definitions against the MCP rules: `Client.protocol`.

    *context* is the protocol version and the capabilities of the connection, *options*
    the amount of detail. If *context* names no protocol version, that of the client
    applies. Violations are returned, never raised. JSON given as ``bytes`` is JSON text and
    sent unchanged; any other value is encoded, as `sidecheck.json_texts` describes. *timeout*
    is the deadline in seconds and replaces the client's default.

    The client's ``on_unavailable`` applies to methods that return a `CheckResult`, except
    in a session.

    All methods raise:

    * `SidecheckError`: nothing could be checked.
    * ``TypeError`` and ``ValueError``: an argument contains a value that JSON cannot express,
      or is a ``str`` where JSON text is expected, which is ``bytes``.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def list_rules(
        self, protocol_version: str = "", *, timeout: float | None = None
    ) -> AsyncIterator[Rule]:
        """Yield the rules of a protocol version by code; "" is all versions.

        The client's version does not apply. The rules are fetched in pages, and *timeout* is
        the deadline of each page.
        """
        token, more = "", True
        while more:
            request = protocol.encode_rules(protocol_version, token)
            rules, token = await self._connection.call(request, protocol.decode_rules, timeout)
            more = token != ""
            for rule in rules:
                yield rule

    async def check_names(
        self,
        names: Iterable[str],
        *,
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckedNames:
        """Check tool names, separately and against each other.

        The maximum number is `Limits.batch_items`. Of *context*, only the protocol version
        matters.
        """
        request = tool_checks.encode_names(names, self._fill(context), options)
        decode = partial(tool_checks.decode_names, count=len(request.names))
        return await self._connection.call(request, decode, timeout)

    async def check_tools(
        self,
        tools_list: ToolJson | None = None,
        *,
        definitions: Definition | ToolJson | Iterable[Definition | ToolJson] | None = None,
        documents: Iterable[Document] = (),
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckedTools:
        """Check tool definitions, separately and against each other.

        Exactly one of *tools_list* and *definitions* is required. *tools_list* is traffic and
        read strictly: a ``tools/list`` result, bare or in its JSON-RPC response, a list of
        definitions, or one definition, as JSON text or as an object. *definitions* are one or
        several definitions by their authors, read leniently as by `Client.register`.
        *documents* are the documents of the schemas of a tools list; a `ToolDefinition` has
        separate ones. *options* applies to each tool.

        Raises:
            TypeError: Neither or both are given, or JSON cannot express them.
        """
        request = tool_checks.encode_tools(
            tools_list, definitions, documents, self._fill(context), options
        )
        decode = partial(tool_checks.decode_tools, count=len(request.tools))
        return await self._connection.call(request, decode, timeout)

    async def check_elicitation(
        self,
        params: ProtocolJson | Form,
        *,
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check the ``params`` of an ``elicitation/create`` request.

        For a pydantic model class these are the params of `sidecheck.elicitation.form`.
        """
        item = Elicitation(elicitation_params(params))
        return await self._check(item, context, options, timeout)

    async def check_elicitation_result(
        self,
        result: ProtocolJson,
        *,
        params: ProtocolJson | Form | None = None,
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check the result of an ``elicitation/create`` request.

        With *params*, those of the request, its content is validated against the requested
        schema.
        """
        request_params = None if params is None else elicitation_params(params)
        item = ElicitationResult(result, request_params)
        return await self._check(item, context, options, timeout)

    async def check_sampling(
        self,
        params: ProtocolJson,
        *,
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check the ``params`` of a ``sampling/createMessage``, with the complete history."""
        return await self._check(Sampling(params), context, options, timeout)

    async def check_tool_result(
        self,
        result: ProtocolJson,
        *,
        profile: ResultProfile = "specification",
        tool: Target | None = None,
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check a ``CallToolResult``; see `ToolResult`."""
        return await self._check(ToolResult(result, profile, tool), context, options, timeout)

    async def normalize_tool_result(  # noqa: PLR0913  (the fields of the request)
        self,
        value: Any = ABSENT,
        *,
        content: Any = ABSENT,
        result: Any = ABSENT,
        error: str | BaseException | Absent = ABSENT,
        tool: Target | None = None,
        profile: ResultProfile = "specification",
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> NormalizedResult:
        """Return a conforming ``CallToolResult`` for a tool's return value.

        Exactly one of four parameters is required; their choice, not the form of the value,
        determines its meaning:

        * *value*: data. ``bytes`` are JSON text; any other value is converted by
          `sidecheck.json_values.json_value`: a ``str`` is text, ``bytes`` inside of a value
          become Base64.
        * *content*: one content block or a list of them, as JSON, JSON text, or objects of
          an SDK.
        * *result*: a complete result, in the same forms; its structured content has the form
          of the tool's definition.
        * *error*: the error, as text or an exception.

        The result is checked last: if it breaks the protocol, or the output schema of
        *tool*, it is replaced with one that has ``isError`` and describes the violations.
        Of *context*, only the protocol version matters. If no server responds, `Unavailable`
        is raised, for any ``on_unavailable`` of the client.
        """
        return_value = ReturnValue(
            value=value, content=content, result=result, error=error, tool=tool, profile=profile
        )
        request = normalization.encode_normalization(return_value, self._fill(context), options)
        return await self._connection.call(request, normalization.decode_normalization, timeout)

    async def check_message(
        self,
        message: ProtocolJson,
        *,
        sender: Sender = "",
        request_method: str = "",
        request: ProtocolJson | None = None,
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check a JSON-RPC message or a JSON-RPC batch; see `ProtocolMessage`."""
        item = ProtocolMessage(message, sender, request_method, request)
        return await self._check(item, context, options, timeout)

    async def check_batch(
        self,
        items: Iterable[CheckItem],
        *,
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> list[CheckOutcome]:
        """Check items of any kind and return their outcomes in order.

        The error of an item is its outcome. A batch beyond the server's limits is sent in
        several calls, and *timeout* is the deadline of each. Items that no server answers
        have outcomes as in `Validator.validate_batch`.
        """
        return await self._connection.call_in_parts(
            [protocol.encode_item(item) for item in items],
            partial(protocol.encode_batch, context=self._fill(context), options=options),
            protocol.decode_batch,
            check_result,
            timeout,
        )

    def session(
        self,
        *,
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        from_beginning: bool = True,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> Session:
        """Return a session; enter it with ``async with``.

        *context* is the context before the first message. If neither *context* nor the client
        has a protocol version, the version that the session negotiates applies. Set
        *from_beginning* to False if the first message to check is not the first of the session:
        then rules that need the whole session do not apply. At most *outstanding* messages are
        pending at a time. *timeout* is the deadline of the session as a whole; None for no
        deadline.

        Raises:
            ValueError: *outstanding* is not positive.
        """
        opening = protocol.encode_session_defaults(
            self._fill(context), options, from_beginning=from_beginning
        )
        return Session(self._connection.stream(SESSION, opening, outstanding, timeout))

    async def _check(
        self,
        item: CheckItem,
        context: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> CheckResult:
        request = protocol.encode_check(item, self._fill(context), options)
        return await self._connection.call_or_fall_back(
            request, protocol.decode_response, check_result, timeout
        )

    def _fill(self, context: ProtocolContext | None) -> ProtocolContext | None:
        return fill_context_version(context, self._connection.protocol_version)


def check_result(verdict: Verdict) -> CheckResult:
    """Return a check result with *verdict* only."""
    return CheckResult(verdict=verdict)
