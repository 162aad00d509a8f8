"""CheckSession over HTTP: one request holds all messages of a session."""

from collections.abc import AsyncIterator
from dataclasses import replace

from sidecheck.v1.protocol_service_pb2 import (
    CheckSessionRequest,
    CheckSessionResponse,
    SessionItem,
    WholeSessionRequest,
    WholeSessionResponse,
)

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error, not_reached_error
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.handler import check_response_size
from sidecheck_server.rpc.method_table import Kind, Method
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.request_work import current_work

__all__ = ["is_session", "whole_session_method"]


def is_session(method: Method) -> bool:
    """Return whether *method* is the stream that checks a session."""
    return method.response_type is CheckSessionResponse


def whole_session_method(stream: Method, limits: Limits) -> Method:
    """Return *stream* as a unary method whose request holds all messages of a session.

    The limits of a batch apply: to the number of messages, and to the work for all of them.
    """

    async def handler(request: WholeSessionRequest, call: Call) -> WholeSessionResponse:
        try:
            return await _check(stream, request, call, limits)
        except RequestError as error:
            call.observe_error(error.reason)
            raise CallFailed(status_from_error(error)) from None

    return replace(
        stream,
        kind=Kind.UNARY,
        request_type=WholeSessionRequest,
        response_type=WholeSessionResponse,
        handler=handler,
    )


async def _check(
    stream: Method, request: WholeSessionRequest, call: Call, limits: Limits
) -> WholeSessionResponse:
    """Return the response to *request*.

    Raises:
        CallFailed: as *stream*.
        RequestError: LIMIT_EXCEEDED if there are too many messages, or the response is too large.
    """
    count = len(request.items)
    if count > limits.batch_items:
        raise limit_exceeded_error("batch_items", limits.batch_items, "the session", count)
    steps_spent = 0.0

    async def requests() -> AsyncIterator[CheckSessionRequest]:
        yield CheckSessionRequest(defaults=request.defaults)
        for item in request.items:
            if steps_spent >= limits.request_steps:
                return
            session_item = SessionItem(message=item.message, http_status=item.http_status)
            yield CheckSessionRequest(item=session_item)

    response, time_slice = WholeSessionResponse(), TimeSlice()
    # Decision 0064: HTTP/1.1 has no bidirectional stream, so one body feeds the stream's handler.
    async for response_part in stream.handler(requests(), call):
        if response_part.HasField("summary"):
            response.summary.CopyFrom(response_part.summary)
            continue
        # The stream opens a budget for each message, in this task.
        steps_spent += current_work().spent
        response.outcomes.append(response_part.outcome)
        await time_slice.yield_if_over()
    not_reached = status_from_error(not_reached_error(limits.request_steps))
    for _ in range(count - len(response.outcomes)):
        response.outcomes.add(error=not_reached)
    check_response_size(response, limits)
    return response
