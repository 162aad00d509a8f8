"""Definitions in the forms for protocol versions, asynchronously."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from sidecheck.connections import Connection
from sidecheck.inference_conversations import InferenceConversations
from sidecheck.returned import ProjectedTool
from sidecheck.targets import Target, ToolJson

__all__ = ["InferenceClient"]


class InferenceClient:
    """Gives definitions the forms that protocol versions want: `Client.inference`.

    *timeout* is the deadline in seconds and stands for the client's own.

    All methods raise:

    * `Refused`: there is no answer; `Unavailable` where no server answers, whatever the
      client's ``on_unavailable`` says.
    * ``TypeError`` and ``ValueError``: JSON cannot express what was given.
    """

    def __init__(self, connection: Connection, conversations: InferenceConversations) -> None:
        self._connection = connection
        self._conversations = conversations

    async def project_tool(
        self, tool: Target | ToolJson, protocol_version: str = "", *, timeout: float | None = None
    ) -> ProjectedTool:
        """Return a definition in the form for a protocol version, or for the server's default.

        *tool* is a definition, or a target that finds one. An output schema whose root is
        not an object stands in a box before 2026-07-28, and by itself since; members that
        the version does not know are left out, and told.
        """
        conversation = self._conversations.project(tool, protocol_version, timeout)
        return await self._connection.hold(conversation)
