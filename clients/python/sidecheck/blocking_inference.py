"""Definitions from source text and in other forms, while the caller waits."""

from collections.abc import Sequence

from sidecheck.connections import BlockingConnection
from sidecheck.inference_conversations import InferenceConversations
from sidecheck.inferred import Inferred, OnUnsupported, Source
from sidecheck.returned import AdaptedTool
from sidecheck.targets import Target, ToolJson

__all__ = ["BlockingInferenceClient"]


class BlockingInferenceClient:
    """Infers definitions while the caller waits; else an `InferenceClient`."""

    def __init__(
        self, connection: BlockingConnection, conversations: InferenceConversations
    ) -> None:
        self._connection = connection
        self._conversations = conversations

    def infer_tools(
        self,
        source: str | bytes,
        *,
        functions: Sequence[str] = (),
        on_unsupported: OnUnsupported = "error",
        injected_types: Sequence[str] = (),
        injected_parameters: Sequence[str] = (),
        timeout: float | None = None,
    ) -> Inferred:
        """Return the definitions of the tools in *source*; see `InferenceClient.infer_tools`."""
        text = Source(
            text=source,
            functions=functions,
            on_unsupported=on_unsupported,
            injected_types=injected_types,
            injected_parameters=injected_parameters,
        )
        return self._connection.hold(self._conversations.infer(text, timeout))

    def adapt_tool(
        self, tool: Target | ToolJson, protocol_version: str = "", *, timeout: float | None = None
    ) -> AdaptedTool:
        """Return a definition in another form; see `InferenceClient.adapt_tool`."""
        conversation = self._conversations.project(tool, protocol_version, timeout)
        return self._connection.hold(conversation)
