"""Definitions to project and what tools returned, between the wire and the core."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sidecheck.v1 import inference_service_pb2, protocol_service_pb2

from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.results import Content, Failure, Returned, Value, Whole
from sidecheck_server.core.mcp.versions import DEFAULT_VERSION, check_version_known
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool
from sidecheck_server.rpc.mapping.context import terms_from_wire
from sidecheck_server.rpc.mapping.subjects import profile_from_wire
from sidecheck_server.rpc.mapping.targets import target_from_wire
from sidecheck_server.rpc.mapping.verdicts import checked_to_wire
from sidecheck_server.services.normalization import Normalized, ToNormalize
from sidecheck_server.services.targets import Target

__all__ = [
    "normalized_to_wire",
    "projected_to_wire",
    "to_normalize_from_wire",
    "to_project_from_wire",
]

_RETURNED: Mapping[str, Callable[[Any], Returned]] = MappingProxyType(
    {"value": Value, "content": Content, "result": Whole, "error": Failure}
)


def to_project_from_wire(
    request: inference_service_pb2.AdaptToolRequest,
) -> tuple[Target, str]:
    """Return the tool to project, and the version.

    Raises:
        Refusal: INVALID_REQUEST if no tool is named; UNKNOWN_PROTOCOL_VERSION.
    """
    check_version_known(request.protocol_version)
    if not request.HasField("tool"):
        raise RequestError(
            ErrorReason.INVALID_REQUEST, "the request has no tool to project", {"field": "tool"}
        )
    return target_from_wire(request.tool), request.protocol_version or DEFAULT_VERSION


def projected_to_wire(tool: AdaptedTool) -> inference_service_pb2.AdaptToolResponse:
    """Return the message of a definition in the form for a version."""
    return inference_service_pb2.AdaptToolResponse(
        json=tool.json, wrapped_property=tool.box, dropped_properties=tool.left_out
    )


def to_normalize_from_wire(
    request: protocol_service_pb2.NormalizeToolResultRequest, limits: Limits
) -> ToNormalize:
    """Return what a tool returned, and how its result is made.

    Raises:
        Refusal: INVALID_REQUEST if nothing was returned, or an enum value does not exist;
            as `terms_from_wire`.
    """
    which = request.WhichOneof("returned")
    if which is None:
        said = "the request does not say what the tool returned: a value, content, result or error"
        raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "returned"})
    terms = terms_from_wire(request.context, request.options, limits)
    return ToNormalize(
        returned=_RETURNED[which](getattr(request, which)),
        target=target_from_wire(request.tool) if request.HasField("tool") else None,
        profile=profile_from_wire(request.profile),
        context=terms.context,
        how=terms.how,
    )


def normalized_to_wire(
    done: Normalized,
) -> protocol_service_pb2.NormalizeToolResultResponse:
    """Return the message of a result that conforms."""
    return protocol_service_pb2.NormalizeToolResultResponse(
        result=done.json, verdict=checked_to_wire(done.verdict)
    )
