"""Requests and responses of InferenceService."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck.v1 import inference_service_pb2 as proto

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.types import (
    Diagnostic,
    InferenceOptions,
    InferenceResult,
    OnUnsupported,
)
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import check_version_known
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool
from sidecheck_server.rpc.mapping.fields import SEVERITIES, unknown_value
from sidecheck_server.rpc.mapping.targets import target_from_proto
from sidecheck_server.services.targets import Target

__all__ = [
    "adapted_tool_to_proto",
    "inferred_to_proto",
    "source_from_proto",
    "tool_to_adapt_from_proto",
]

_ON_UNSUPPORTED: Mapping[int, OnUnsupported] = MappingProxyType(
    {
        proto.ON_UNSUPPORTED_UNSPECIFIED: OnUnsupported.ERROR,
        proto.ON_UNSUPPORTED_ERROR: OnUnsupported.ERROR,
        proto.ON_UNSUPPORTED_ANY: OnUnsupported.ANY,
    }
)


def source_from_proto(
    request: proto.InferToolsRequest, limits: Limits
) -> tuple[bytes, InferenceOptions]:
    """Return the source text and the inference options of a request.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value; LIMIT_EXCEEDED if there are
            too many names.
    """
    names = (request.functions, request.injected_types, request.injected_parameters)
    count = sum(map(len, names))
    if count > limits.batch_items:
        subject = "the names of functions, types and parameters"
        raise limit_exceeded_error("batch_items", limits.batch_items, subject, count)
    on_unsupported = _ON_UNSUPPORTED.get(request.on_unsupported)
    if on_unsupported is None:
        raise unknown_value("on_unsupported")
    options = InferenceOptions(
        functions=tuple(request.functions),
        on_unsupported=on_unsupported,
        injected_types=tuple(request.injected_types),
        injected_parameters=tuple(request.injected_parameters),
    )
    return request.source, options


def inferred_to_proto(inferred: InferenceResult) -> proto.InferToolsResponse:
    """Return the message of inferred tools and diagnostics."""
    tools = [
        proto.InferredTool(
            json=tool.json,
            function=tool.function,
            line=tool.line,
            definition_digest=tool.digest,
        )
        for tool in inferred.tools
    ]
    return proto.InferToolsResponse(tools=tools, diagnostics=map(_diagnostic, inferred.diagnostics))


def tool_to_adapt_from_proto(request: proto.AdaptToolRequest) -> tuple[Target, str]:
    """Return the tool of a request, and the protocol version to adapt it to, or "".

    Raises:
        RequestError: INVALID_REQUEST if there is no tool; UNKNOWN_PROTOCOL_VERSION.
    """
    check_version_known(request.protocol_version)
    if not request.HasField("tool"):
        raise RequestError(
            ErrorReason.INVALID_REQUEST, "the request has no tool to adapt", {"field": "tool"}
        )
    return target_from_proto(request.tool), request.protocol_version


def adapted_tool_to_proto(tool: AdaptedTool) -> proto.AdaptToolResponse:
    """Return the message of an adapted definition."""
    return proto.AdaptToolResponse(
        json=tool.json,
        wrapped_property=tool.wrapped_property,
        dropped_properties=tool.dropped_properties,
    )


def _diagnostic(diagnostic: Diagnostic) -> proto.Diagnostic:
    location = diagnostic.location
    return proto.Diagnostic(
        code=diagnostic.code,
        severity=SEVERITIES[diagnostic.severity],
        message=diagnostic.message,
        line=location.line,
        column=location.column,
        end_line=location.end_line,
        end_column=location.end_column,
        function=diagnostic.function,
        parameter=diagnostic.parameter,
    )
