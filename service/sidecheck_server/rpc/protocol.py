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
from sidecheck_server.rpc.access_log import LoggedResponse
from sidecheck_server.rpc.batches import Batch, Turn, refuse_large_answer
from sidecheck_server.rpc.checks import Checks
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.mapping import (
    RequestContext,
    Sent,
    normalized_to_wire,
    nothing_to_check,
    terms_from_wire,
    to_normalize_from_wire,
)
from sidecheck_server.rpc.methods import Unreadable
from sidecheck_server.rpc.names import answer_names
from sidecheck_server.rpc.rules import rules_on_page
from sidecheck_server.rpc.sessions import Conversation
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.streams import Streams, rpc_stream_handler
from sidecheck_server.rpc.tools import answer_tools
from sidecheck_server.services.normalization import Normalizer
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.results import ResultChecker
from sidecheck_server.services.tools import ToolsChecker

__all__ = ["ProtocolServicer"]


class ProtocolServicer(ProtocolServiceServicer):
    """Checks by the rules of the protocol."""

    def __init__(
        self,
        checker: Checker,
        results: ResultChecker,
        normalizer: Normalizer,
        limits: Limits,
        door: ShutdownGate,
        streams: Streams,
    ) -> None:
        self.door = door
        self.streams = streams
        self._checker = checker
        self._tools = ToolsChecker(checker, limits)
        self._checks = Checks(checker, results)
        self._normalizer = normalizer
        self._limits = limits

    @rpc_handler
    async def ListRules(self, request: ListRulesRequest) -> ListRulesResponse:  # noqa: N802
        """List rules, page by page."""
        return rules_on_page(request)

    @rpc_handler
    async def CheckToolNames(  # noqa: N802
        self, request: CheckToolNamesRequest
    ) -> CheckToolNamesResponse:
        """Check names of tools."""
        return await answer_names(request, self._limits)

    @rpc_handler
    async def CheckTools(self, request: CheckToolsRequest) -> CheckToolsResponse:  # noqa: N802
        """Check tool definitions."""
        return await answer_tools(request, self._tools, self._limits)

    @rpc_handler
    async def CheckElicitation(  # noqa: N802
        self, request: CheckElicitationRequest
    ) -> CheckElicitationResponse:
        """Check a request of elicitation."""
        sent, terms = self._read(request, "elicitation")
        return CheckElicitationResponse(result=await self._checks.answer(sent, terms))

    @rpc_handler
    async def CheckElicitationResult(  # noqa: N802
        self, request: CheckElicitationResultRequest
    ) -> CheckElicitationResultResponse:
        """Check the result of an elicitation."""
        sent, terms = self._read(request, "elicitation_result")
        return CheckElicitationResultResponse(result=await self._checks.answer(sent, terms))

    @rpc_handler
    async def CheckSampling(  # noqa: N802
        self, request: CheckSamplingRequest
    ) -> CheckSamplingResponse:
        """Check a request of sampling."""
        sent, terms = self._read(request, "sampling")
        return CheckSamplingResponse(result=await self._checks.answer(sent, terms))

    @rpc_handler
    async def CheckToolResult(  # noqa: N802
        self, request: CheckToolResultRequest
    ) -> CheckToolResultResponse:
        """Check the result of a tool."""
        sent, terms = self._read(request, "tool_result")
        return CheckToolResultResponse(result=await self._checks.answer(sent, terms))

    @rpc_handler
    async def NormalizeToolResult(  # noqa: N802
        self, request: NormalizeToolResultRequest
    ) -> NormalizeToolResultResponse:
        """Make a result of what a tool returned."""
        one = to_normalize_from_wire(request, self._limits)
        response = normalized_to_wire(await self._normalizer.normalize(one))
        refuse_large_answer(response, self._limits)
        return response

    @rpc_handler
    async def CheckMessage(  # noqa: N802
        self, request: CheckMessageRequest
    ) -> CheckMessageResponse:
        """Check one message."""
        sent, terms = self._read(request, "message")
        return CheckMessageResponse(result=await self._checks.answer(sent, terms))

    @rpc_handler
    async def CheckBatch(self, request: CheckBatchRequest) -> LoggedResponse:  # noqa: N802
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
        return LoggedResponse(response, *batch.tally.told())

    @rpc_stream_handler
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

    def _read(self, request: Any, field: str) -> tuple[Sent, RequestContext]:
        """Return what *request* has in *field*, to be checked, and the terms.

        Raises:
            Refusal: it has nothing there, or terms that do not hold together.
        """
        if not request.HasField(field):
            raise nothing_to_check(field)
        terms = terms_from_wire(request.context, request.options, self._limits)
        return getattr(request, field), terms
