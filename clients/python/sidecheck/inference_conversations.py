"""What a client says to the service of inference and makes of the answers, without any I/O.

Nobody can make up a definition: where no server answers, that is raised, whatever the
client's ``on_unavailable`` says.
"""

from sidecheck.conversations import Conversation, Conversations
from sidecheck.inferred import Inferred, Source
from sidecheck.returned import AdaptedTool
from sidecheck.targets import Target, ToolJson
from sidecheck.wire import inference_requests, inference_responses, rpcs
from sidecheck.wire import returned_requests as requests
from sidecheck.wire import returned_responses as responses

__all__ = ["InferenceConversations"]


class InferenceConversations:
    """The conversations with the service of inference, on the ground of all the client's."""

    def __init__(self, ground: Conversations) -> None:
        self._ground = ground

    def infer(self, source: Source, timeout: float | None) -> Conversation[Inferred]:
        """Have the tools of a text inferred."""
        request = inference_requests.inference_request(source)
        response = yield from self._ground.ask(rpcs.INFER_TOOLS, request, timeout)
        return inference_responses.inferred(response)

    def project(
        self, tool: Target | ToolJson, protocol_version: str, timeout: float | None
    ) -> Conversation[AdaptedTool]:
        """Have a definition projected."""
        request = requests.projection_request(tool, protocol_version)
        response = yield from self._ground.ask(rpcs.PROJECT_TOOL, request, timeout)
        return responses.adapt_schema(response)
