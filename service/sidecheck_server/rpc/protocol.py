"""ProtocolService."""

from collections.abc import AsyncIterator
from typing import Any

from sidecheck.v1.protocol_service_pb2 import (
    CheckBatchRequest,
    CheckBatchResponse,
    CheckElicitationRequest,
    CheckElicitationResponse,
    CheckElicitationResultRequest,
    CheckElicitationResultResponse,
    CheckMessageRequest,
    CheckMessageResponse,
    CheckSamplingRequest,
    CheckSamplingResponse,
    CheckSessionRequest,
    CheckSessionResponse,
    CheckToolNamesRequest,
    CheckToolNamesResponse,
    CheckToolResultRequest,
    CheckToolResultResponse,
    CheckToolsRequest,
    CheckToolsResponse,
    ListRulesRequest,
    ListRulesResponse,
    NormalizeToolResultRequest,
    NormalizeToolResultResponse,
)
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceServicer

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.rpc.answering import answering
from sidecheck_server.rpc.batches import Batch, Turn, refuse_large_answer
from sidecheck_server.rpc.checks import Checks
from sidecheck_server.rpc.convert import (
    Sent,
    Terms,
    normalized_to_wire,
    nothing_to_check,
    terms_from_wire,
    to_normalize_from_wire,
)
from sidecheck_server.rpc.door import Door
from sidecheck_server.rpc.facts import Told
from sidecheck_server.rpc.methods import Unreadable
from sidecheck_server.rpc.names import answer_names
from sidecheck_server.rpc.rules import rules_on_page
from sidecheck_server.rpc.sessions import Conversation
from sidecheck_server.rpc.streams import Streams, answering_stream
from sidecheck_server.rpc.tools import answer_tools
from sidecheck_server.state.normalization import Normalizer
from sidecheck_server.state.protocol import Checker
from sidecheck_server.state.results import ResultChecker
from sidecheck_server.state.tools import ToolsChecker

__all__ = ["ProtocolServicer"]


class ProtocolServicer(ProtocolServiceServicer):
    """Checks by the rules of the protocol."""

    def __init__(
        self,
        checker: Checker,
        results: ResultChecker,
        normalizer: Normalizer,
        limits: Limits,
        door: Door,
        streams: Streams,
    ) -> None:
        self.door = door
        self.streams = streams
        self._checker = checker
        self._tools = ToolsChecker(checker, limits)
        self._checks = Checks(checker, results)
        self._normalizer = normalizer
        self._limits = limits

    @answering
    async def ListRules(self, request: ListRulesRequest) -> ListRulesResponse:  # noqa: N802
        """List rules, page by page."""
        return rules_on_page(request)

    @answering
    async def CheckToolNames(  # noqa: N802
        self, request: CheckToolNamesRequest
    ) -> CheckToolNamesResponse:
        """Check names of tools."""
        return await answer_names(request, self._limits)

    @answering
    async def CheckTools(self, request: CheckToolsRequest) -> CheckToolsResponse:  # noqa: N802
        """Check tool definitions."""
        return await answer_tools(request, self._tools, self._limits)

    @answering
    async def CheckElicitation(  # noqa: N802
        self, request: CheckElicitationRequest
    ) -> CheckElicitationResponse:
        """Check a request of elicitation."""
        sent, terms = self._read(request, "elicitation")
        return CheckElicitationResponse(answer=await self._checks.answer(sent, terms))

    @answering
    async def CheckElicitationResult(  # noqa: N802
        self, request: CheckElicitationResultRequest
    ) -> CheckElicitationResultResponse:
        """Check the result of an elicitation."""
        sent, terms = self._read(request, "elicitation_result")
        return CheckElicitationResultResponse(answer=await self._checks.answer(sent, terms))

    @answering
    async def CheckSampling(  # noqa: N802
        self, request: CheckSamplingRequest
    ) -> CheckSamplingResponse:
        """Check a request of sampling."""
        sent, terms = self._read(request, "sampling")
        return CheckSamplingResponse(answer=await self._checks.answer(sent, terms))

    @answering
    async def CheckToolResult(  # noqa: N802
        self, request: CheckToolResultRequest
    ) -> CheckToolResultResponse:
        """Check the result of a tool."""
        sent, terms = self._read(request, "tool_result")
        return CheckToolResultResponse(answer=await self._checks.answer(sent, terms))

    @answering
    async def NormalizeToolResult(  # noqa: N802
        self, request: NormalizeToolResultRequest
    ) -> NormalizeToolResultResponse:
        """Make a result of what a tool returned."""
        one = to_normalize_from_wire(request, self._limits)
        response = normalized_to_wire(await self._normalizer.normalize(one))
        refuse_large_answer(response, self._limits)
        return response

    @answering
    async def CheckMessage(  # noqa: N802
        self, request: CheckMessageRequest
    ) -> CheckMessageResponse:
        """Check one message."""
        sent, terms = self._read(request, "message")
        return CheckMessageResponse(answer=await self._checks.answer(sent, terms))

    @answering
    async def CheckBatch(self, request: CheckBatchRequest) -> Told:  # noqa: N802
        """Check many things in their order."""
        count = len(request.items)
        if count > self._limits.batch_items:
            raise exceeded("batch_items", self._limits.batch_items, "the batch", count)
        terms = terms_from_wire(request.context, request.options, self._limits)
        response, batch = CheckBatchResponse(), Batch(count, self._limits)
        turn = Turn()
        for item in request.items:
            outcome = await self._checks.outcome(item, terms, batch)
            batch.tally.look(outcome)
            response.outcomes.append(outcome)
            await turn.over()
        refuse_large_answer(response, self._limits)
        return Told(response, *batch.tally.told())

    @answering_stream
    async def CheckSession(  # noqa: N802
        self, requests: AsyncIterator[CheckSessionRequest | Unreadable]
    ) -> AsyncIterator[CheckSessionResponse]:
        """Check the messages of a session as they come, in their order."""
        conversation: Conversation | None = None
        async for request in requests:
            if (
                conversation is None
                and isinstance(request, CheckSessionRequest)
                and request.HasField("defaults")
            ):
                conversation = Conversation(self._checker, self._limits, request.defaults)
                continue
            if conversation is None:
                conversation = Conversation(self._checker, self._limits)
            yield await conversation.answer(request)

    def _read(self, request: Any, field: str) -> tuple[Sent, Terms]:
        """Return what *request* has in *field*, to be checked, and the terms.

        Raises:
            Refusal: it has nothing there, or terms that do not hold together.
        """
        if not request.HasField(field):
            raise nothing_to_check(field)
        terms = terms_from_wire(request.context, request.options, self._limits)
        return getattr(request, field), terms
