"""Definitions in the forms for protocol versions, while the caller waits."""

from sidecheck.connections import BlockingConnection
from sidecheck.inference_conversations import InferenceConversations
from sidecheck.returned import ProjectedTool
from sidecheck.targets import Target, ToolJson

__all__ = ["BlockingInferenceClient"]


class BlockingInferenceClient:
    """Gives definitions other forms while the caller waits; else an `InferenceClient`."""

    def __init__(
        self, connection: BlockingConnection, conversations: InferenceConversations
    ) -> None:
        self._connection = connection
        self._conversations = conversations

    def project_tool(
        self, tool: Target | ToolJson, protocol_version: str = "", *, timeout: float | None = None
    ) -> ProjectedTool:
        """Return a definition in another form; see `InferenceClient.project_tool`."""
        conversation = self._conversations.project(tool, protocol_version, timeout)
        return self._connection.hold(conversation)
