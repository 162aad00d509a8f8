"""Requests and responses of InferenceService."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck.v1 import inference_service_pb2 as proto

from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.infer.types import (
    Diagnostic,
    InferenceOptions,
    InferenceResult,
    OnUnsupported,
)
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import check_version_known
from sidecheck_server.core.mcp.wrapping.definitions import AdaptedTool
from sidecheck_server.core.portability.proof import Outcome, PortabilityProof
from sidecheck_server.core.portability.target import TOOL_TARGETS
from sidecheck_server.rpc.mapping.comparison import witness_to_proto
from sidecheck_server.rpc.mapping.conversion import effect_to_proto, losses_to_proto
from sidecheck_server.rpc.mapping.fields import SEVERITIES, unknown_value
from sidecheck_server.rpc.mapping.targets import target_from_proto
from sidecheck_server.services.portability import PortableTool
from sidecheck_server.services.targets import Target

__all__ = [
    "adapted_tool_to_proto",
    "inferred_to_proto",
    "portability_from_proto",
    "portable_tool_to_proto",
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


_TARGETS = frozenset(target.value for target in TOOL_TARGETS)
_MAX_TARGET = 64
"""Characters of the name of an unknown target in an error."""


def portability_from_proto(message: proto.Portability) -> tuple[frozenset[str], bool]:
    """Return the targets of a portable form, and whether to prove its effect.

    Raises:
        RequestError: INVALID_REQUEST for an unknown target.
    """
    for index, target in enumerate(message.targets):
        if target not in _TARGETS:
            raise _unknown_target(index, target)
    return frozenset(message.targets) or DEFAULT_TARGETS, message.prove


def _unknown_target(index: int, target: str) -> RequestError:
    field, shown = f"portable.targets[{index}]", target[:_MAX_TARGET]
    nearest = find_nearest(target, sorted(_TARGETS))
    known = f"did you mean {nearest!r}?" if nearest else f"expected {', '.join(sorted(_TARGETS))}"
    metadata = {"field": field, "target": shown, **({"nearest": nearest} if nearest else {})}
    return RequestError(
        ErrorReason.INVALID_REQUEST, f"unknown value for {field}: {shown!r}; {known}", metadata
    )


_OUTCOMES: Mapping[Outcome, proto.PortabilityProof.Outcome] = MappingProxyType(
    {
        Outcome.EQUIVALENT: proto.PortabilityProof.OUTCOME_EQUIVALENT,
        Outcome.WIDER: proto.PortabilityProof.OUTCOME_WIDER,
        Outcome.UNDECIDED: proto.PortabilityProof.OUTCOME_UNDECIDED,
        Outcome.NARROWER: proto.PortabilityProof.OUTCOME_NARROWER,
    }
)


def portable_tool_to_proto(portable: PortableTool) -> proto.AdaptToolResponse:
    """Return the message of a definition in a portable form."""
    response = adapted_tool_to_proto(portable.tool)
    converted = portable.converted
    response.portable.CopyFrom(
        proto.PortableForm(
            mapping=converted.mapping,
            losses=losses_to_proto(converted.losses),
            effect=effect_to_proto(converted.losses),
            proof=None if portable.proof is None else _proof(portable.proof),
        )
    )
    return response


def _proof(proof: PortabilityProof) -> proto.PortabilityProof:
    return proto.PortabilityProof(
        outcome=_OUTCOMES[proof.outcome],
        message=proof.message,
        witness=witness_to_proto(proof.witness),
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
