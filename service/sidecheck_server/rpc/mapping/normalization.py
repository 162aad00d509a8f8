"""Return values of tools to normalize, and the normalized results."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import protocol_service_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.results.normalize import (
    Content,
    Failure,
    ToolOutput,
    Value,
    WholeResult,
)
from sidecheck_server.rpc.mapping.context import request_context_from_proto
from sidecheck_server.rpc.mapping.subjects import profile_from_proto
from sidecheck_server.rpc.mapping.targets import target_from_proto
from sidecheck_server.rpc.mapping.verdicts import protocol_verdict_to_proto
from sidecheck_server.services.normalization import NormalizedResult, ValueToNormalize

__all__ = ["normalized_result_to_proto", "value_to_normalize_from_proto"]

_RETURNED: Mapping[str, Callable[[Any], ToolOutput]] = MappingProxyType(
    {"value": Value, "content": Content, "result": WholeResult, "error": Failure}
)


def value_to_normalize_from_proto(
    request: protocol_service_pb2.NormalizeToolResultRequest, limits: Limits, default_version: str
) -> ValueToNormalize:
    """Return the return value of a request, and how its result is made.

    Raises:
        RequestError: INVALID_REQUEST if there is no return value, or for an unknown enum
            value; as `request_context_from_proto`.
    """
    kind = request.WhichOneof("returned")
    if kind is None:
        raise RequestError(
            ErrorReason.INVALID_REQUEST,
            "the request has no return value; set one of value, content, result, error",
            {"field": "returned"},
        )
    context = request_context_from_proto(request.context, request.options, limits, default_version)
    return ValueToNormalize(
        returned=_RETURNED[kind](getattr(request, kind)),
        target=target_from_proto(request.tool) if request.HasField("tool") else None,
        profile=profile_from_proto(request.profile),
        context=context.context,
        limits=context.limits,
        names_version=context.names_version,
    )


def normalized_result_to_proto(
    result: NormalizedResult,
) -> protocol_service_pb2.NormalizeToolResultResponse:
    """Return the message of a normalized result."""
    return protocol_service_pb2.NormalizeToolResultResponse(
        result=result.json, verdict=protocol_verdict_to_proto(result.verdict)
    )
