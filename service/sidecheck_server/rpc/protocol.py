"""ProtocolService: checks by the rules of the protocol."""

from collections.abc import AsyncIterator
from contextlib import ExitStack
from copy import copy
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
    CheckOutcome,
    CheckResult,
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
    SessionDefaults,
    SessionItem,
)
from sidecheck.v1.protocol_service_pb2_grpc import ProtocolServiceServicer

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import check_version_known
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.sessions.repetitions import Repetition
from sidecheck_server.rpc.access_log import LoggedResponse, OutcomeCounter
from sidecheck_server.rpc.handler import check_response_size, rpc_handler, status_of
from sidecheck_server.rpc.mapping.checks import (
    collision_to_proto,
    name_to_proto,
    normalized_result_to_proto,
    report_to_proto,
    rule_to_proto,
    summary_to_proto,
    tool_outcome_to_proto,
    tools_to_check_from_proto,
    value_to_normalize_from_proto,
)
from sidecheck_server.rpc.mapping.context import (
    request_context_from_proto,
    session_context_from_proto,
)
from sidecheck_server.rpc.mapping.fields import page_size, position_from_token, token_for_position
from sidecheck_server.rpc.mapping.subjects import (
    SubjectMessage,
    check_request_from_proto,
    missing_subject,
    result_tool_from_proto,
    session_item_from_proto,
    subject_of_item,
)
from sidecheck_server.rpc.mapping.verdicts import protocol_verdict_to_proto
from sidecheck_server.rpc.method_table import Unreadable
from sidecheck_server.rpc.streams import OpenStreams, read_item, rpc_stream_handler
from sidecheck_server.services.checks import RequestContext, SessionChecker
from sidecheck_server.services.container import Services
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.protocol import list_rules
from sidecheck_server.services.request_work import BatchBudget, open_request
from sidecheck_server.services.tools import check_tool_names

__all__ = ["ProtocolServicer"]


class ProtocolServicer(ProtocolServiceServicer):
    """Serves ProtocolService."""

    def __init__(self, services: Services, limits: Limits, streams: OpenStreams) -> None:
        self.streams = streams
        self._checker = services.protocol_checker
        self._subjects = services.subject_checker
        self._tools = services.tools_checker
        self._normalizer = services.normalizer
        self._default_version = services.resolver.default_version
        self._limits = limits
        self._registry = services.registry
        self.changes = services.changes
        transport = streams.limits
        self._session_memory = MemoryPool(transport.session_bytes, transport.sessions)

    @rpc_handler
    async def ListRules(self, request: ListRulesRequest) -> ListRulesResponse:  # noqa: N802
        """List rules, page by page."""
        version = request.protocol_version
        check_version_known(version)
        size = page_size(request.page_size)
        # Page tokens of this list are invalid for other lists.
        list_id = f"rules {version}"
        position = position_from_token(request.page_token, list_id)
        rules, more = list_rules(version, "" if position is None else position[1], size)
        token = token_for_position(list_id, "", rules[-1].code) if more else ""
        return ListRulesResponse(rules=map(rule_to_proto, rules), next_page_token=token)

    @rpc_handler
    async def CheckToolNames(  # noqa: N802
        self, request: CheckToolNamesRequest
    ) -> CheckToolNamesResponse:
        """Check names of tools."""
        open_request(self._limits)
        context = self._context(request)
        count, limit = len(request.names), self._limits.batch_items
        if count > limit:
            raise limit_exceeded_error("batch_items", limit, "the names", count)
        names = list(request.names)
        checked = await check_tool_names(names, context.context, context.limits, self._limits)
        response = CheckToolNamesResponse(collisions=map(collision_to_proto, checked.collisions))
        time_slice = TimeSlice()
        for name in checked.names:
            response.outcomes.append(name_to_proto(name))
            await time_slice.yield_if_over()
        check_response_size(response, self._limits)
        return response

    @rpc_handler
    async def CheckTools(self, request: CheckToolsRequest) -> CheckToolsResponse:  # noqa: N802
        """Check tool definitions."""
        open_request(self._limits)
        checked = await self._tools.check(
            await tools_to_check_from_proto(request, self._limits, self._default_version)
        )
        response = CheckToolsResponse(
            tools_list_verdict=protocol_verdict_to_proto(checked.tools_list_verdict)
        )
        time_slice = TimeSlice()
        for tool in checked.outcomes:
            response.outcomes.append(tool_outcome_to_proto(tool))
            await time_slice.yield_if_over()
        check_response_size(response, self._limits)
        return response

    @rpc_handler
    async def CheckElicitation(  # noqa: N802
        self, request: CheckElicitationRequest
    ) -> CheckElicitationResponse:
        """Check a request for elicitation."""
        return CheckElicitationResponse(result=await self._check_field(request, "elicitation"))

    @rpc_handler
    async def CheckElicitationResult(  # noqa: N802
        self, request: CheckElicitationResultRequest
    ) -> CheckElicitationResultResponse:
        """Check the result of an elicitation."""
        result = await self._check_field(request, "elicitation_result")
        return CheckElicitationResultResponse(result=result)

    @rpc_handler
    async def CheckSampling(  # noqa: N802
        self, request: CheckSamplingRequest
    ) -> CheckSamplingResponse:
        """Check a request for sampling."""
        return CheckSamplingResponse(result=await self._check_field(request, "sampling"))

    @rpc_handler
    async def CheckToolResult(  # noqa: N802
        self, request: CheckToolResultRequest
    ) -> CheckToolResultResponse:
        """Check the result of a tool."""
        revision = self._registry.revision
        result = await self._check_field(request, "tool_result")
        return CheckToolResultResponse(result=result, registry_revision=revision)

    @rpc_handler
    async def NormalizeToolResult(  # noqa: N802
        self, request: NormalizeToolResultRequest
    ) -> NormalizeToolResultResponse:
        """Build a result from the return value of a tool."""
        value = value_to_normalize_from_proto(request, self._limits, self._default_version)
        revision = self._registry.revision
        response = normalized_result_to_proto(await self._normalizer.normalize(value))
        response.registry_revision = revision
        check_response_size(response, self._limits)
        return response

    @rpc_handler
    async def CheckMessage(  # noqa: N802
        self, request: CheckMessageRequest
    ) -> CheckMessageResponse:
        """Check a message."""
        return CheckMessageResponse(result=await self._check_field(request, "message"))

    @rpc_handler
    async def CheckBatch(self, request: CheckBatchRequest) -> LoggedResponse:  # noqa: N802
        """Check the items of a batch in their order."""
        count = len(request.items)
        if count > self._limits.batch_items:
            raise limit_exceeded_error("batch_items", self._limits.batch_items, "the batch", count)
        context = self._context(request)
        response = CheckBatchResponse(registry_revision=self._registry.revision)
        budget = BatchBudget(self._limits)
        counter, time_slice = OutcomeCounter(count), TimeSlice()
        work = open_request(self._limits)
        for item in request.items:
            try:
                work.begin_item()
                result = await self._check(subject_of_item(item), context, budget)
                outcome = CheckOutcome(result=result)
            except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the client)
                outcome = CheckOutcome(error=status_of(error, "CheckBatch"))
            counter.classify(outcome)
            response.outcomes.append(outcome)
            await time_slice.yield_if_over()
        check_response_size(response, self._limits)
        return LoggedResponse(response, *counter.log_fields(), counter.codes, counter.reasons)

    @rpc_stream_handler
    async def CheckSession(  # noqa: N802
        self, requests: AsyncIterator[CheckSessionRequest | Unreadable]
    ) -> AsyncIterator[CheckSessionResponse]:
        """Check the messages of a session as they arrive, in their order."""
        session: _Session | None = None
        with self.streams.admit("sessions"), ExitStack() as stack:
            async for request in requests:
                if (
                    session is None
                    and isinstance(request, CheckSessionRequest)
                    and request.HasField("defaults")
                ):
                    session = self._session(request.defaults, stack)
                    continue
                if session is None:
                    session = self._session(SessionDefaults(), stack)
                open_request(self._limits)
                yield await session.respond(request)
            repetitions = [] if session is None else session.repetitions()
            yield CheckSessionResponse(summary=summary_to_proto(repetitions))

    async def _check_field(self, request: Any, field: str) -> CheckResult:
        """Check the subject in *field* of *request*.

        Raises:
            RequestError: INVALID_REQUEST if it is not set; as `SubjectChecker.check`.
        """
        if not request.HasField(field):
            raise missing_subject(field)
        open_request(self._limits)
        context = self._context(request)
        return await self._check(getattr(request, field), context)

    async def _check(
        self, subject: SubjectMessage, context: RequestContext, budget: BatchBudget | None = None
    ) -> CheckResult:
        request = check_request_from_proto(subject, context)
        target = result_tool_from_proto(subject)
        report = await self._subjects.check(
            request, target, budget, names_version=context.names_version
        )
        return report_to_proto(report)

    def _context(self, request: Any) -> RequestContext:
        return request_context_from_proto(
            request.context, request.options, self._limits, self._default_version
        )

    def _session(self, defaults: SessionDefaults, stack: ExitStack) -> "_Session":
        """Return the session of a stream; *stack* closes it."""
        try:
            context = session_context_from_proto(defaults, self._limits, self._default_version)
        except RequestError as error:
            return _Session(copy(error))
        session = SessionChecker(self._checker, self._limits, context, self._session_memory)
        stack.callback(session.close)
        return _Session(context, session)


class _Session:
    """The stream of a session."""

    def __init__(
        self, context: RequestContext | RequestError, session: SessionChecker | None = None
    ) -> None:
        #: The context, or the error of the defaults, which is the outcome of every item.
        self._context = context
        self._session = session
        #: Index of the current item.
        self._index = -1

    async def respond(self, request: CheckSessionRequest | Unreadable) -> CheckSessionResponse:
        """Return the response to *request*; its errors do not affect other messages."""
        id_ = ""
        self._index += 1
        try:
            item = self._item(request)
            id_ = item.id
            outcome = CheckOutcome(result=await self._check(item))
        except Exception as error:  # noqa: BLE001  (nothing unexpected may reach the client)
            outcome = CheckOutcome(error=status_of(error, "CheckSession"))
        return CheckSessionResponse(id=id_, outcome=outcome)

    def repetitions(self) -> list[Repetition]:
        """Return the violations of several messages that only one response lists."""
        return [] if self._session is None else self._session.repetitions()

    def _item(self, request: CheckSessionRequest | Unreadable) -> SessionItem:
        try:
            item: SessionItem = read_item(request)
        except RequestError:
            if self._session is not None:
                self._session.skip()
            raise
        return item

    async def _check(self, item: SessionItem) -> CheckResult:
        if isinstance(self._context, RequestError):
            # Raising extends the traceback; the stored error is never raised itself.
            raise copy(self._context)
        assert self._session is not None
        try:
            request, http_status = session_item_from_proto(item, self._context)
        except RequestError:
            self._session.skip()
            raise
        report = await self._session.check(request, number=self._index, http_status=http_status)
        return report_to_proto(report)
