"""CheckSession over HTTP: all messages of a session in one request, in place of a stream.

The messages of this form are in no .proto file: over gRPC they are those of the stream.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message_factory import GetMessageClass
from sidecheck.v1 import protocol_service_pb2
from sidecheck.v1.protocol_service_pb2 import CheckSessionRequest, CheckSessionResponse

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error, not_reached_error
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.handler import check_response_size
from sidecheck_server.rpc.method_table import Kind, Method
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.request_work import current_work

__all__ = ["SESSION_TEXTS", "is_session", "whole_session_method"]

_PACKAGE: Final = "sidecheck.http"

_FIELDS: Final[Mapping[str, tuple[tuple[str, str, bool], ...]]] = MappingProxyType(
    {
        "WholeSessionItem": (
            ("message", ".sidecheck.v1.ProtocolMessage", False),
            ("http_status", "", False),
        ),
        "WholeSessionRequest": (
            ("defaults", ".sidecheck.v1.SessionDefaults", False),
            ("items", f".{_PACKAGE}.WholeSessionItem", True),
        ),
        "WholeSessionResponse": (
            ("outcomes", ".sidecheck.v1.CheckOutcome", True),
            ("summary", ".sidecheck.v1.SessionSummary", False),
        ),
    }
)
"""By message: the names of the fields, their types or "" for a number, whether they repeat."""

SESSION_TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        f"{_PACKAGE}.WholeSessionRequest": "Request to check the messages of one session.",
        f"{_PACKAGE}.WholeSessionRequest.items": "Messages of the session, in order.",
        f"{_PACKAGE}.WholeSessionItem": "One message of a session.",
        f"{_PACKAGE}.WholeSessionItem.http_status": "Status of the HTTP response to the message, "
        "if it was sent over HTTP. If it rejects a message of the client (400 or more), the "
        "message takes no part in the session.",
        f"{_PACKAGE}.WholeSessionResponse": "Outcomes of the check of a session.",
        f"{_PACKAGE}.WholeSessionResponse.outcomes": "One outcome per message, in order.",
        f"{_PACKAGE}.WholeSessionResponse.summary": "What was found in more than one message.",
    }
)
"""Descriptions of the messages and their fields, by full name."""


def _create_messages() -> dict[str, Any]:
    """Return the classes of the messages by their names."""
    file = FileDescriptorProto(
        name="sidecheck/http/whole_session.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=[protocol_service_pb2.DESCRIPTOR.name],
    )
    types, labels = FieldDescriptorProto.Type, FieldDescriptorProto.Label
    for message_name, fields in _FIELDS.items():
        message = file.message_type.add(name=message_name)
        for number, (name, type_name, is_repeated) in enumerate(fields, 1):
            message.field.add(
                name=name,
                number=number,
                type=types.TYPE_MESSAGE if type_name else types.TYPE_UINT32,
                type_name=type_name or None,
                label=labels.LABEL_REPEATED if is_repeated else labels.LABEL_OPTIONAL,
            )
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return {
        name: GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _FIELDS
    }


_MESSAGES: Final = _create_messages()


def is_session(method: Method) -> bool:
    """Return whether *method* is the stream that checks a session."""
    return method.response_type is CheckSessionResponse


def whole_session_method(stream: Method, limits: Limits) -> Method:
    """Return *stream* as a unary method, whose request has all messages of the session.

    Its messages, and the work for all of them, are bounded as those of a batch.
    """

    async def handler(request: Any, call: Call) -> Any:
        try:
            return await _check(stream, request, call, limits)
        except RequestError as error:
            call.observe_error(error.reason)
            raise CallFailed(status_from_error(error)) from None

    return replace(
        stream,
        kind=Kind.UNARY,
        request_type=_MESSAGES["WholeSessionRequest"],
        response_type=_MESSAGES["WholeSessionResponse"],
        handler=handler,
    )


async def _check(stream: Method, request: Any, call: Call, limits: Limits) -> Any:
    """Return the response to *request*.

    Raises:
        CallFailed: as *stream*.
        RequestError: LIMIT_EXCEEDED if there are too many messages, or the response is too large.
    """
    count = len(request.items)
    if count > limits.batch_items:
        raise limit_exceeded_error("batch_items", limits.batch_items, "the session", count)
    spent = 0.0

    async def requests() -> AsyncIterator[CheckSessionRequest]:
        yield CheckSessionRequest(defaults=request.defaults)
        for item in request.items:
            if spent >= limits.request_steps:
                return
            sent = {"message": item.message, "http_status": item.http_status}
            yield CheckSessionRequest(item=sent)

    response, time_slice = _MESSAGES["WholeSessionResponse"](), TimeSlice()
    async for answer in stream.handler(requests(), call):
        if answer.HasField("summary"):
            response.summary.CopyFrom(answer.summary)
            continue
        # The stream opens a budget for each message, in this task.
        spent += current_work().spent
        response.outcomes.append(answer.outcome)
        await time_slice.yield_if_over()
    not_reached = status_from_error(not_reached_error(limits.request_steps))
    for _ in range(count - len(response.outcomes)):
        response.outcomes.add(error=not_reached)
    check_response_size(response, limits)
    return response
