"""Definitions from source text and in the forms for protocol versions, asynchronously."""

# ruff: noqa: ASYNC109  (a timeout here is the deadline that the call carries to the server)

from collections.abc import Sequence

from sidecheck.connections import Connection
from sidecheck.inference_conversations import InferenceConversations
from sidecheck.inferred import Inferred, OnUnsupported, Source
from sidecheck.returned import AdaptedTool
from sidecheck.targets import Target, ToolJson

__all__ = ["InferenceClient"]


class InferenceClient:
    """Infers definitions, and gives them other forms: `Client.inference`.

    *timeout* is the deadline in seconds and stands for the client's own.

    All methods raise:

    * `SidecheckError`: there is no answer; `Unavailable` where no server answers, whatever the
      client's ``on_unavailable`` says.
    * ``TypeError`` and ``ValueError``: JSON cannot express what was given.
    """

    def __init__(self, connection: Connection, conversations: InferenceConversations) -> None:
        self._connection = connection
        self._conversations = conversations

    async def infer_tools(
        self,
        source: str | bytes,
        *,
        functions: Sequence[str] = (),
        on_unsupported: OnUnsupported = "error",
        injected_types: Sequence[str] = (),
        injected_parameters: Sequence[str] = (),
        timeout: float | None = None,
    ) -> Inferred:
        """Return the definitions of the tools in *source*, Python that is parsed and never run.

        *functions* are those that are tools, by name, of a method ``Class.method``; without
        them those with a decorator called ``tool`` are, or, if there is none, the public
        functions of the module. Parameters of *injected_types* (beside ``Context`` and the
        like) and *injected_parameters* are no arguments. What the text alone does not tell
        is a diagnostic: a tool with an error is not among those that are returned, unless
        *on_unsupported* is ``"any"``.
        """
        text = Source(
            text=source,
            functions=functions,
            on_unsupported=on_unsupported,
            injected_types=injected_types,
            injected_parameters=injected_parameters,
        )
        return await self._connection.hold(self._conversations.infer(text, timeout))

    async def adapt_tool(
        self, tool: Target | ToolJson, protocol_version: str = "", *, timeout: float | None = None
    ) -> AdaptedTool:
        """Return a definition in the form for a protocol version, or for the server's default.

        *tool* is a definition, or a target that finds one. An output schema whose root is
        not an object stands in a box before 2026-07-28, and by itself since; members that
        the version does not know are left out, and told.
        """
        conversation = self._conversations.project(tool, protocol_version, timeout)
        return await self._connection.hold(conversation)
