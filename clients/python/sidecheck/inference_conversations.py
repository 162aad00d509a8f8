"""What a client says to the service of inference and makes of the answers, without any I/O.

Nobody can make up a definition: where no server answers, that is raised, whatever the
client's ``on_unavailable`` says.
"""

from sidecheck.conversations import Conversation, Conversations
from sidecheck.returned import ProjectedTool
from sidecheck.targets import Target, ToolJson
from sidecheck.wire import returned_requests as requests
from sidecheck.wire import returned_responses as responses
from sidecheck.wire import rpcs

__all__ = ["InferenceConversations"]


class InferenceConversations:
    """The conversations with the service of inference, on the ground of all the client's."""

    def __init__(self, ground: Conversations) -> None:
        self._ground = ground

    def project(
        self, tool: Target | ToolJson, protocol_version: str, timeout: float | None
    ) -> Conversation[ProjectedTool]:
        """Have a definition projected."""
        request = requests.projection_request(tool, protocol_version)
        response = yield from self._ground.ask(rpcs.PROJECT_TOOL, request, timeout)
        return responses.projected(response)
