"""Errors from statuses, failed calls and invalid responses."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, TypeVar, cast

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from sidecheck.errors import InvalidResponse, SidecheckError, Unavailable
from sidecheck.values.error_reasons import UNAVAILABLE_REASONS, ErrorReason
from sidecheck.values.info import Limits
from sidecheck.wire.connection_failures import Peer, describe_failure

__all__ = [
    "client_closed",
    "deadline_exceeded",
    "decode_call_error",
    "decode_item_error",
    "decode_message",
    "not_encodable",
    "require_count",
    "require_field",
    "require_json",
    "too_large",
]

DetailT = TypeVar("DetailT", bound=Message)
MessageT = TypeVar("MessageT", bound=Message)

#: Domain of the `google.rpc.ErrorInfo` messages whose reasons are Sidecheck's.
DOMAIN: Final = "sidecheck"

STATUS_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}

# Decision 0049: a status without an ErrorInfo of Sidecheck is not from Sidecheck.
#: Status codes that gRPC libraries and proxies set by themselves. Without a reason of
#: Sidecheck they mean that no Sidecheck server answered. Only applications set the other codes
#: (gRPC, doc/statuscodes.md). The comments name origins that this document lacks: HTTP statuses
#: (doc/http-grpc-status-mapping.md) and codes of RST_STREAM (doc/PROTOCOL-HTTP2.md, "Errors").
UNAVAILABLE_CODES: Final = frozenset(
    {
        grpc.StatusCode.CANCELLED,  # RST_STREAM with CANCEL; a full queue of the server's gRPC
        grpc.StatusCode.UNKNOWN,  # HTTP statuses that are not listed here, such as 500
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.PERMISSION_DENIED,  # HTTP 403; INADEQUATE_SECURITY
        grpc.StatusCode.RESOURCE_EXHAUSTED,  # ENHANCE_YOUR_CALM
        grpc.StatusCode.UNIMPLEMENTED,  # HTTP 404
        grpc.StatusCode.INTERNAL,  # HTTP 400; most codes of RST_STREAM
        grpc.StatusCode.UNAVAILABLE,  # HTTP 429, 502, 503, 504; REFUSED_STREAM; GOAWAY
        grpc.StatusCode.UNAUTHENTICATED,  # HTTP 401
    }
)

#: Messages for a request that is too large for a server or proxy: of gRPC for C++ and Go
#: ("message larger than max"), of gRPC for Java, and for HTTP status 413. The author of a
#: payload can cause these errors, so they must never count as an unavailable server.
TOO_LARGE: Final = re.compile(
    r"message larger than max|message exceeds maximum size|http2 header with status: 413"
)


def decode_call_error(error: grpc.RpcError, peer: Peer | None = None) -> SidecheckError:
    """Return the error of a failed call to *peer* that the caller did not cancel.

    The details are a serialized `google.rpc.Status` in the trailing metadata
    ``grpc-status-details-bin`` (gRPC, "Error handling", richer error model). Details
    that do not decode are ignored: the code and the message suffice.
    """
    status = Status(code=error.code().value[0], message=error.details() or "")
    # The type stubs describe only the metadata of blocking calls; all calls return pairs.
    metadata = cast("Iterable[tuple[str, str | bytes]]", error.trailing_metadata() or ())
    for key, value in metadata:
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            with suppress(DecodeError):
                status.details.extend(Status.FromString(value).details)
    if find_detail(status, ErrorInfo, DOMAIN) is not None:
        return decode_item_error(status)
    code = STATUS_CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    message = status.message or "the status has no message"
    if TOO_LARGE.search(message):
        bound = {"bound": "message_bytes"}
        return SidecheckError(
            ErrorReason.LIMIT_EXCEEDED, message, bound, grpc.StatusCode.RESOURCE_EXHAUSTED
        )
    kind = Unavailable if code in UNAVAILABLE_CODES else SidecheckError
    described = describe_failure(code, message, peer) if peer is not None else None
    message, details = described or (message, {})
    return kind(code.name, message, details, code, retry_after(status))


def decode_item_error(status: Status) -> SidecheckError:
    """Return the error that a server reports for a call, or for one item.

    Its reason is that of the `google.rpc.ErrorInfo` of the domain ``sidecheck``, or the
    name of the status code without such details.

    Raises:
        InvalidResponse: *status* is not an error.
    """
    if status.code == grpc.StatusCode.OK.value[0]:
        raise InvalidResponse("an outcome has neither a result nor an error")
    code = STATUS_CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    info = find_detail(status, ErrorInfo, DOMAIN) or ErrorInfo(reason=code.name)
    kind = Unavailable if info.reason in UNAVAILABLE_REASONS else SidecheckError
    return kind(info.reason, status.message, info.metadata, code, retry_after(status))


def find_detail(status: Status, kind: type[DetailT], domain: str = "") -> DetailT | None:
    """Return the first detail of *kind* and *domain* that decodes, or None."""
    for detail in status.details:
        message = kind()
        with suppress(DecodeError):
            if detail.Unpack(message) and getattr(message, "domain", "") == domain:
                return message
    return None


def retry_after(status: Status) -> float | None:
    """Return the delay of the `google.rpc.RetryInfo` in *status* in seconds, if any."""
    retry = find_detail(status, RetryInfo)
    if retry is None:
        return None
    delay: float = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
    return delay


def client_closed() -> SidecheckError:
    """Return the error for a call of a closed client."""
    return SidecheckError(
        ErrorReason.CLIENT_CLOSED, "the client was closed", {}, grpc.StatusCode.CANCELLED
    )


def deadline_exceeded(peer: Peer | None = None) -> Unavailable:
    """Return the error for a call whose deadline passes before it is sent."""
    code = grpc.StatusCode.DEADLINE_EXCEEDED
    message = "Deadline Exceeded"
    described = describe_failure(code, message, peer) if peer is not None else None
    return Unavailable(code.name, *(described or (message, {})), code)


# Invalid responses


def decode_message(data: bytes | None, kind: type[MessageT]) -> MessageT:
    """Return the message of the class *kind* in *data*.

    Raises:
        InvalidResponse: *data* is None, for a call without a response, or does not decode.
    """
    if data is None:
        raise InvalidResponse("the call ended without an error and without a response")
    try:
        return kind.FromString(data)
    except DecodeError:
        raise InvalidResponse(f"the response, of {len(data)} bytes, does not decode") from None


def require_field(message: Message, field: str) -> Any:
    """Return the message in *field* of *message*.

    Raises:
        InvalidResponse: The field is not set.
    """
    if not message.HasField(field):
        raise InvalidResponse(f"{message.DESCRIPTOR.name}.{field} is missing in the response")
    return getattr(message, field)


def require_json(message: Message, field: str) -> bytes:
    """Return the JSON text in *field* of *message*.

    Raises:
        InvalidResponse: The field is empty.
    """
    text: bytes = getattr(message, field)
    if not text:
        raise InvalidResponse(f"{message.DESCRIPTOR.name}.{field} is missing in the response")
    return text


def require_count(message: Message, field: str, expected: int) -> None:
    """Check that *message* has *expected* elements in *field*.

    Raises:
        InvalidResponse: The number differs.
    """
    count = len(getattr(message, field))
    if count != expected:
        raise InvalidResponse(
            f"{message.DESCRIPTOR.name}.{field} has {count} elements for {expected} items"
        )


# Errors of single items


def too_large(size: int, limits: Limits) -> SidecheckError:
    """Return the error for an item of *size* bytes, which is too large."""
    limit = limits.message_bytes
    return SidecheckError(
        ErrorReason.LIMIT_EXCEEDED,
        f"item too large: {size} bytes exceed the limit of {limit} (message_bytes)",
        {"bound": "message_bytes", "limit": str(limit), "found": str(size)},
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    )


def not_encodable(error: Exception) -> SidecheckError:
    """Return the error for an item with a payload that JSON cannot express."""
    return SidecheckError(
        ErrorReason.INVALID_REQUEST,
        f"cannot encode the item: {error}",
        {"field": "subject"},
        grpc.StatusCode.INVALID_ARGUMENT,
    )
