"""Messages of the normalization of tool results."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sidecheck.json_values import json_value
from sidecheck.protocol import CheckOptions, NormalizedResult, ProtocolContext, ReturnValue
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.verdicts import JsonText
from sidecheck.wire.protocol import PROFILES, encode_context, encode_options
from sidecheck.wire.values import (
    decode_verdict,
    encode_json,
    encode_target,
    find_label,
    protocol_text,
)

__all__ = ["decode_normalization", "encode_normalization"]


def encode_normalization(
    returned: ReturnValue, context: ProtocolContext | None, options: CheckOptions | None
) -> protocol_pb.NormalizeToolResultRequest:
    """Return the request to normalize what a tool returned."""
    field = returned.field
    return protocol_pb.NormalizeToolResultRequest(
        context=encode_context(context),
        options=encode_options(options),
        tool=encode_target(returned.tool),
        profile=find_label("profile", returned.profile, PROFILES),
        **{field: ENCODERS[field](getattr(returned, field))},
    )


def decode_normalization(
    response: protocol_pb.NormalizeToolResultResponse,
) -> NormalizedResult:
    """Return the normalized result of a response."""
    return NormalizedResult(
        result=JsonText(response.result), verdict=decode_verdict(response.verdict)
    )


def value_text(value: Any) -> bytes:
    """Return the JSON text of a returned value; only a `JsonText` is JSON text already."""
    return value if isinstance(value, JsonText) else encode_json(json_value(value)).encode()


def content_text(value: Any) -> bytes:
    """Return the JSON text of JSON of the protocol or of objects of an SDK."""
    return protocol_text(dump_models(value))


def dump_models(value: Any) -> Any:
    """Return pydantic models, one or a list, as JSON values; other values unchanged.

    Unset fields are omitted: the protocol has no null for them.
    """
    if isinstance(value, list | tuple):
        return [dump_models(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode="json", by_alias=True, exclude_none=True)


def error_text(value: Any) -> str:
    """Return the message of an exception, or the text itself.

    Raises:
        TypeError: *value* is neither.
    """
    if isinstance(value, BaseException):
        return str(value) or type(value).__name__
    if not isinstance(value, str):
        raise TypeError(f"error must be a str or an exception, not {type(value).__name__}")
    return value


ENCODERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "value": value_text,
    "content": content_text,
    "result": content_text,
    "error": error_text,
}
