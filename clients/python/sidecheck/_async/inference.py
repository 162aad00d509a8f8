"""The calls of InferenceService."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import Sequence

from sidecheck._async.connection import Connection
from sidecheck.definitions import Source
from sidecheck.portability import Portability
from sidecheck.targets import Target, ToolJson
from sidecheck.tool_lists import Definition
from sidecheck.values.inference import AdaptedTool, InferredTools
from sidecheck.values.inference_options import OnUnsupported
from sidecheck.wire import inference
from sidecheck.wire.decoders.inference import decode_adapted_tool, decode_inferred_tools

__all__ = ["InferenceClient"]


class InferenceClient:
    """Infers definitions and adapts them to protocol versions: `Client.inference`.

    *timeout* is the deadline in seconds and replaces the client's default.

    All methods raise:

    * `SidecheckError`: no result was possible; `Unavailable` if no server responds, for any
      ``on_unavailable`` of the client.
    * ``TypeError`` and ``ValueError``: an argument is invalid, or contains a value that
      JSON cannot express; see `sidecheck.json_texts`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def infer_tools(
        self,
        source: str | bytes,
        *,
        functions: Sequence[str] = (),
        on_unsupported: OnUnsupported = "error",
        injected_types: Sequence[str] = (),
        injected_parameters: Sequence[str] = (),
        timeout: float | None = None,
    ) -> InferredTools:
        """Return the definitions of the tools in *source*, Python that is never executed.

        *functions* are the names of the functions that are tools, ``Class.method`` for a
        method. The default is all functions with a decorator called ``tool``, or all public
        functions of the module if there are none. Parameters of *injected_types* (and of
        ``Context`` etc.) and *injected_parameters* are not arguments. Types that the text alone
        does not determine are reported as diagnostics: a tool with an error is not returned,
        unless *on_unsupported* is ``"any"``.
        """
        text = Source(
            text=source,
            functions=functions,
            on_unsupported=on_unsupported,
            injected_types=injected_types,
            injected_parameters=injected_parameters,
        )
        request = inference.encode_inference(text)
        return await self._connection.call(request, decode_inferred_tools, timeout)

    async def adapt_tool(
        self,
        tool: Target | Definition | ToolJson,
        protocol_version: str = "",
        *,
        portable: Portability | None = None,
        timeout: float | None = None,
    ) -> AdaptedTool:
        """Return a definition adapted to a protocol version; "" is the client's version.

        *tool* is a definition or its target. Before 2026-07-28, an output schema whose root is
        not an object is wrapped in an object; since then it is unwrapped. Properties that the
        version does not have are dropped and reported.

        With *portable*, the definition is also rewritten so that model APIs and clients accept it
        as it is; `AdaptedTool.portable` has the losses, and the mapping with which
        `ConversionClient.convert_tool_call` converts calls back.
        """
        version = protocol_version or self._connection.protocol_version
        request = inference.encode_adaptation(tool, version, portable)
        return await self._connection.call(request, decode_adapted_tool, timeout)
