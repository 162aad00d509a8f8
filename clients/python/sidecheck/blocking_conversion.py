"""Conversions for the APIs of providers of models, while the caller waits."""

from collections.abc import Iterable

from sidecheck.checks import CheckOptions, ProtocolContext, ProtocolJson, ResultProfile, ToolResult
from sidecheck.connections import BlockingConnection
from sidecheck.conversion_conversations import ConversionConversations
from sidecheck.conversions import ConvertedResult, ConvertedTools, RestoredCall
from sidecheck.converting import ConversionOptions, Convertible, ModelApi, PlanJson
from sidecheck.options import Options
from sidecheck.targets import Target

__all__ = ["BlockingConversionClient"]


class BlockingConversionClient:
    """Turns tools, calls and results while the caller waits; else a `ConversionClient`."""

    def __init__(
        self, connection: BlockingConnection, conversations: ConversionConversations
    ) -> None:
        self._connection = connection
        self._conversations = conversations

    def convert_tools(
        self,
        api: ModelApi,
        tools: Iterable[Convertible] = (),
        *,
        servers: Iterable[str] = (),
        options: ConversionOptions | None = None,
        timeout: float | None = None,
    ) -> ConvertedTools:
        """Convert tools for one request; see `ConversionClient.convert_tools`."""
        conversation = self._conversations.tools(api, tools, servers, options, timeout)
        return self._connection.hold(conversation)

    def restore_call(
        self,
        call: ProtocolJson,
        plans: PlanJson | Iterable[PlanJson],
        *,
        tool: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> RestoredCall:
        """Turn a model's call back, and judge it; see `ConversionClient.restore_call`."""
        conversation = self._conversations.call(call, plans, tool, options, timeout)
        return self._connection.hold(conversation)

    def convert_result(  # noqa: PLR0913 - the fields of the request.
        self,
        api: ModelApi,
        result: ProtocolJson,
        *,
        call_id: str = "",
        name: str = "",
        tool: Target | None = None,
        profile: ResultProfile = "specification",
        peers: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> ConvertedResult:
        """Turn a result into a message; see `ConversionClient.convert_result`."""
        given = ToolResult(result, profile, tool)
        conversation = self._conversations.result(
            api, given, call_id, name, peers, options, timeout
        )
        return self._connection.hold(conversation)
