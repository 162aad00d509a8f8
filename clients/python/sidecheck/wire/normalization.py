"""Messages of the normalization of tool results."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sidecheck.json_texts import protocol_text, return_value_text
from sidecheck.json_types import JsonText
from sidecheck.protocol import CheckOptions, ProtocolContext
from sidecheck.return_values import NormalizedResult, ReturnValue
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.wire.decoders.verdict import decode_verdict
from sidecheck.wire.errors import require_field, require_json
from sidecheck.wire.protocol import PROFILES, encode_context, encode_options
from sidecheck.wire.values import encode_target, find_label

__all__ = ["decode_normalization", "encode_normalization"]


def encode_normalization(
    return_value: ReturnValue, context: ProtocolContext | None, options: CheckOptions | None
) -> protocol_pb.NormalizeToolResultRequest:
    """Return the request to normalize the return value of a tool."""
    field = return_value.field
    return protocol_pb.NormalizeToolResultRequest(
        context=encode_context(context),
        options=encode_options(options),
        tool=encode_target(return_value.tool),
        profile=find_label("profile", return_value.profile, PROFILES),
        **{field: ENCODERS[field](getattr(return_value, field), field)},
    )


def decode_normalization(
    response: protocol_pb.NormalizeToolResultResponse,
) -> NormalizedResult:
    """Return the normalized result of a response."""
    return NormalizedResult(
        result=JsonText(require_json(response, "result")),
        verdict=decode_verdict(require_field(response, "verdict")),
    )


def error_text(value: Any, name: str) -> str:
    """Return the message of an exception, or the text itself.

    Raises:
        TypeError: *value* is neither.
    """
    if isinstance(value, BaseException):
        return str(value) or type(value).__name__
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str or an exception, not {type(value).__name__}")
    return value


ENCODERS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "value": return_value_text,
    "content": protocol_text,
    "result": protocol_text,
    "error": error_text,
}
