"""What a client says to the service of conversions and makes of the answers, without any I/O.

Nobody can make up a converted tool, a restored call or a message: where no server answers,
that is raised, whatever the client's ``on_unavailable`` says.
"""

from collections.abc import Iterable

from sidecheck.checks import CheckOptions, ProtocolContext, ProtocolJson, ToolResult
from sidecheck.conversations import Conversation, Conversations
from sidecheck.conversions import ConvertedResult, ConvertedTools, RestoredCall
from sidecheck.converting import ConversionOptions, Convertible, ModelApi, PlanJson
from sidecheck.options import Options
from sidecheck.targets import Target
from sidecheck.wire import conversion_requests as requests
from sidecheck.wire import conversion_responses as responses
from sidecheck.wire import rpcs

__all__ = ["ConversionConversations"]


class ConversionConversations:
    """The conversations with the service of conversions, on the ground of all the client's."""

    def __init__(self, ground: Conversations) -> None:
        self._ground = ground

    def tools(
        self,
        api: ModelApi,
        tools: Iterable[Convertible],
        servers: Iterable[str],
        options: ConversionOptions | None,
        timeout: float | None,
    ) -> Conversation[ConvertedTools]:
        """Have tools converted for one request."""
        request = requests.tools_request(api, tools, servers, options)
        response = yield from self._ground.ask(rpcs.CONVERT_TOOLS, request, timeout)
        return responses.tools(ModelApi(api), response)

    def call(
        self,
        call: ProtocolJson,
        plans: PlanJson | Iterable[PlanJson],
        tool: Target | None,
        options: Options | None,
        timeout: float | None,
    ) -> Conversation[RestoredCall]:
        """Have a model's call turned back."""
        request = requests.call_request(call, plans, tool, options)
        response = yield from self._ground.ask(rpcs.RESTORE_TOOL_CALL, request, timeout)
        return responses.call(response)

    def result(
        self,
        api: ModelApi,
        result: ToolResult,
        call_id: str,
        name: str,
        peers: ProtocolContext | None,
        options: CheckOptions | None,
        timeout: float | None,
    ) -> Conversation[ConvertedResult]:
        """Have a result turned into a message."""
        request = requests.result_request(api, result, call_id, name, peers, options)
        response = yield from self._ground.ask(rpcs.CONVERT_TOOL_RESULT, request, timeout)
        return responses.result(response)
