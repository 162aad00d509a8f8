"""The calls of ConversionService."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import Iterable
from functools import partial

from sidecheck._async.connection import Connection
from sidecheck.conversion import (
    ConversionOptions,
    ConvertedCall,
    ConvertedResult,
    ConvertedTools,
    Convertible,
    MappingJson,
    ModelApi,
)
from sidecheck.protocol import (
    CheckOptions,
    ProtocolContext,
    ProtocolJson,
    ResultProfile,
    ToolResult,
    fill_context_version,
)
from sidecheck.targets import Target
from sidecheck.validation import Options, fill_version
from sidecheck.wire import conversion

__all__ = ["ConversionClient"]


class ConversionClient:
    """Converts tools, calls and results for the APIs of model providers.

    `Client.conversion` returns it. A part that an API cannot express is reported as a
    `Loss`. JSON given as ``bytes`` is JSON text and sent unchanged; any other value is encoded, as
    `sidecheck.json_texts` describes. If *options* or *context* name no protocol version, that
    of the client applies. *timeout* is the deadline in seconds and replaces the client's
    default.

    All methods raise:

    * `SidecheckError`: nothing was converted; `Unavailable` if no server responds, for any
      ``on_unavailable`` of the client.
    * ``TypeError`` and ``ValueError``: an argument contains a value that JSON cannot express,
      or is a ``str`` where JSON text is expected, which is ``bytes``.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def convert_tools(
        self,
        api: ModelApi,
        tools: Convertible | Iterable[Convertible] = (),
        *,
        servers: Iterable[str] = (),
        options: ConversionOptions | None = None,
        timeout: float | None = None,
    ) -> ConvertedTools:
        """Convert tools for one request to *api*, with names that are unique in it.

        *tools* may have all forms that `Client.register` takes, except functions. A tool
        may also be the target of a definition; use `ToolToConvert` to specify its server. The
        registered tools of *servers* follow *tools*, by name. The maximum number of all tools
        is `Limits.batch_items`.
        """
        request = conversion.encode_tools(
            api, tools, servers, options, self._connection.protocol_version
        )
        # The number of registered tools of a server is unknown here.
        count = None if request.servers else len(request.tools)
        decode = partial(conversion.decode_tools, ModelApi(api), count)
        return await self._connection.call(request, decode, timeout)

    async def convert_tool_call(
        self,
        call: ProtocolJson,
        mappings: MappingJson | Iterable[MappingJson],
        *,
        tool: Target | None = None,
        options: Options | None = None,
        timeout: float | None = None,
    ) -> ConvertedCall:
        """Convert a model's call to the ``params`` of a ``tools/call``, and validate it.

        *call* is as the API returned it: an element of ``tool_calls``, a ``function_call``
        item, a ``tool_use`` block, a ``functionCall`` or ``toolUse`` part. *mappings* is
        the mapping of the tool, or the mappings of all tools of the request. *tool* is the
        original; None is the registered definition that the mapping names. A call that
        cannot be read has an invalid verdict. The error ``MAPPING_MISMATCH`` means that no
        mapping has the name in the call, or that the mapping belongs to another definition.
        """
        options = fill_version(options, self._connection.protocol_version)
        request = conversion.encode_call(call, mappings, tool, options)
        return await self._connection.call(request, conversion.decode_call, timeout)

    async def convert_tool_result(  # noqa: PLR0913  (the fields of the request)
        self,
        api: ModelApi,
        result: ProtocolJson,
        *,
        call_id: str = "",
        name: str = "",
        tool: Target | None = None,
        profile: ResultProfile = "specification",
        context: ProtocolContext | None = None,
        options: CheckOptions | None = None,
        timeout: float | None = None,
    ) -> ConvertedResult:
        """Convert a ``CallToolResult`` to a message for the model, and check it.

        *call_id* is the id that the API gave the call, *name* the name by which the model
        called the tool; Gemini and Ollama require the name, all others the id. *tool* and
        *profile* are as in `ToolResult`.
        """
        tool_result = ToolResult(result, profile, tool)
        context = fill_context_version(context, self._connection.protocol_version)
        request = conversion.encode_result(api, tool_result, call_id, name, context, options)
        return await self._connection.call(request, conversion.decode_result, timeout)
