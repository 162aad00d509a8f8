"""Conversions for the APIs of providers of models, asynchronously."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import Iterable

from sidecheck.checks import CheckOptions, ProtocolContext, ProtocolJson, ResultProfile, ToolResult
from sidecheck.connections import Connection
from sidecheck.conversion_conversations import ConversionConversations
from sidecheck.conversions import ConvertedResult, ConvertedTools, RestoredCall
from sidecheck.converting import ConversionOptions, Convertible, ModelApi, PlanJson
from sidecheck.options import Options
from sidecheck.targets import Target

__all__ = ["ConversionClient"]


class ConversionClient:
    """Turns tools, calls and results into other forms: `Client.conversion`.

    What an API cannot express is told as a `Loss`. JSON given as ``bytes`` or ``str`` is
    JSON text and sent as it is; any other value is encoded. *timeout* is the deadline in
    seconds and stands for the client's own.

    All methods raise:

    * `SidecheckError`: nothing could be converted; `Unavailable` where no server answers,
      whatever the client's ``on_unavailable`` says.
    * ``TypeError`` and ``ValueError``: JSON cannot express what was given.
    """

    def __init__(self, connection: Connection, conversations: ConversionConversations) -> None:
        self._connection = connection
        self._conversations = conversations

    async def convert_tools(
        self,
        api: ModelApi,
        tools: Iterable[Convertible] = (),
        *,
        servers: Iterable[str] = (),
        options: ConversionOptions | None = None,
        timeout: float | None = None,
    ) -> ConvertedTools:
        """Convert tools for one request to *api*, each by itself, with names that fit together.

        A tool is a definition, or any target that finds one; `ToolToConvert` says its
        server as well. The registered tools of *servers* come after *tools*, by name.
        Together they may be as many as `Limits.batch_items`.
        """
        conversation = self._conversations.tools(api, tools, servers, options, timeout)
        return await self._connection.hold(conversation)

    async def restore_call(
        self,
        call: ProtocolJson,
        plans: PlanJson | Iterable[PlanJson],
        *,
        tool: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> RestoredCall:
        """Turn the call that a model made into the ``params`` of a ``tools/call``, and judge it.

        *call* is as the API gave it: an element of ``tool_calls``, a ``function_call``
        item, a ``tool_use`` block, a ``functionCall`` or ``toolUse`` part. *plans* is the
        plan of the tool, or those of all tools of the request. *tool* is the original; if
        it is None, the registered definition that the plan names. A call that cannot be
        read is an answer: an invalid verdict. Refused with ``MAPPING_MISMATCH`` is a call by
        a name that no plan is of, and a plan of another definition than that of *tool*.
        """
        conversation = self._conversations.call(call, plans, tool, options, timeout)
        return await self._connection.hold(conversation)

    async def convert_result(  # noqa: PLR0913 - the fields of the request.
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
        """Turn a ``CallToolResult`` into the message that tells the model, and check it.

        *call_id* is the id that the API gave the call, *name* the name that the model
        knows the tool by, as in the call; Gemini and Ollama need the name, and all others
        the id. *tool* and
        *profile* are as in `ToolResult`.
        """
        given = ToolResult(result, profile, tool)
        conversation = self._conversations.result(
            api, given, call_id, name, peers, options, timeout
        )
        return await self._connection.hold(conversation)
