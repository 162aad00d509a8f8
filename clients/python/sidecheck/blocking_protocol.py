"""Checks by the rules of the protocol, while the caller waits."""

from collections.abc import Iterable, Iterator, Mapping
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
from sidecheck.connections import BlockingConnection
from sidecheck.exchanges import SESSION
from sidecheck.findings import CheckedNames, CheckedTools, CheckOutcome, CheckResult, Rule
from sidecheck.forms import Form, asked
from sidecheck.items import ABSENT, Absent
from sidecheck.protocol_conversations import ProtocolConversations
from sidecheck.returned import NormalizedResult, Returned
from sidecheck.sessions import BlockingSession
from sidecheck.streams import OUTSTANDING
from sidecheck.targets import Document, Target, ToolDefinition, ToolJson

__all__ = ["BlockingProtocolClient"]


class BlockingProtocolClient:
    """Checks by the rules of the protocol while the caller waits; else a `ProtocolClient`."""

    def __init__(
        self, connection: BlockingConnection, conversations: ProtocolConversations
    ) -> None:
        self._connection = connection
        self._conversations = conversations

    def list_rules(
        self, protocol_version: str = "", *, timeout: float | None = None
    ) -> Iterator[Rule]:
        """Yield the rules by code; see `ProtocolClient.list_rules`."""
        for page in self._conversations.rules(protocol_version, timeout):
            yield from self._connection.hold(page)

    def check_names(
        self,
        names: Iterable[str],
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckedNames:
        """Check names of tools; see `ProtocolClient.check_names`."""
        conversation = self._conversations.names(names, peers, options, timeout)
        return self._connection.hold(conversation)

    def check_tools(
        self,
        tools: bytes | str | Mapping[str, Any] | Iterable[ToolDefinition | ToolJson],
        *,
        documents: Iterable[Document] = (),
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckedTools:
        """Check tool definitions; see `ProtocolClient.check_tools`."""
        conversation = self._conversations.tools(tools, documents, peers, options, timeout)
        return self._connection.hold(conversation)

    def check_elicitation(
        self,
        params: ProtocolJson | Form,
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check a request of elicitation; see `ProtocolClient.check_elicitation`."""
        return self._check(Elicitation(asked(params)), peers, options, timeout)

    def check_elicitation_result(
        self,
        result: ProtocolJson,
        *,
        params: ProtocolJson | Form | None = None,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check the result of an elicitation; see `ProtocolClient.check_elicitation_result`."""
        item = ElicitationResult(result, None if params is None else asked(params))
        return self._check(item, peers, options, timeout)

    def check_sampling(
        self,
        params: ProtocolJson,
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check a request of sampling; see `ProtocolClient.check_sampling`."""
        return self._check(Sampling(params), peers, options, timeout)

    def check_tool_result(
        self,
        result: ProtocolJson,
        *,
        profile: ResultProfile = "specification",
        tool: Target | None = None,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> CheckResult:
        """Check a ``CallToolResult``; see `ProtocolClient.check_tool_result`."""
        return self._check(ToolResult(result, profile, tool), peers, options, timeout)

    def normalize_tool_result(  # noqa: PLR0913 - the fields of the request.
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
        """Make a result of what a tool returned; see `ProtocolClient.normalize_tool_result`."""
        returned = Returned(
            value=value, content=content, result=result, error=error, tool=tool, profile=profile
        )
        conversation = self._conversations.normalize(returned, peers, options, timeout)
        return self._connection.hold(conversation)

    def check_message(
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
        """Check a message or a batch of them; see `ProtocolClient.check_message`."""
        item = ProtocolMessage(message, sender, answers, request)
        return self._check(item, peers, options, timeout)

    def check_batch(
        self,
        items: Iterable[CheckItem],
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> list[CheckOutcome]:
        """Check many things; see `ProtocolClient.check_batch`."""
        conversation = self._conversations.batch(items, peers, options, timeout)
        return self._connection.hold(conversation)

    def session(
        self,
        *,
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        outstanding: int = OUTSTANDING,
        timeout: float | None = None,
    ) -> BlockingSession:
        """Return a session, to be entered with ``with``; see `ProtocolClient.session`."""
        opening = self._conversations.session(peers, options)
        return BlockingSession(self._connection.stream(SESSION, opening, outstanding, timeout))

    def _check(
        self,
        item: CheckItem,
        peers: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> CheckResult:
        conversation = self._conversations.check(item, peers, options, timeout)
        return self._connection.hold(conversation)
