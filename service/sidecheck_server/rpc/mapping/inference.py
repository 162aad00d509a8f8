"""Source text and the definitions of its tools, between the wire and the core."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck.v1 import inference_service_pb2 as wire

from sidecheck_server.core.infer.types import (
    Diagnostic,
    InferenceOptions,
    InferenceResult,
    OnUnsupported,
)
from sidecheck_server.rpc.mapping.values import no_such_value
from sidecheck_server.rpc.mapping.verdicts import SEVERITIES

__all__ = ["inferred_to_wire", "to_infer_from_wire"]

_ON_UNSUPPORTED: Mapping[int, OnUnsupported] = MappingProxyType(
    {
        wire.ON_UNSUPPORTED_UNSPECIFIED: OnUnsupported.ERROR,
        wire.ON_UNSUPPORTED_ERROR: OnUnsupported.ERROR,
        wire.ON_UNSUPPORTED_ANY: OnUnsupported.ANY,
    }
)


def to_infer_from_wire(request: wire.InferToolsRequest) -> tuple[bytes, InferenceOptions]:
    """Return the source text that a request has, and how its tools are inferred.

    Raises:
        Refusal: INVALID_REQUEST for an enum value that does not exist.
    """
    on_unsupported = _ON_UNSUPPORTED.get(request.on_unsupported)
    if on_unsupported is None:
        raise no_such_value("on_unsupported")
    options = InferenceOptions(
        functions=tuple(request.functions),
        on_unsupported=on_unsupported,
        injected_types=tuple(request.injected_types),
        injected_parameters=tuple(request.injected_parameters),
    )
    return request.source, options


def inferred_to_wire(inferred: InferenceResult) -> wire.InferToolsResponse:
    """Return the message of what a text gave."""
    tools = [
        wire.InferredTool(
            json=tool.json,
            function=tool.function,
            line=tool.line,
            definition_digest=tool.digest,
        )
        for tool in inferred.tools
    ]
    return wire.InferToolsResponse(tools=tools, diagnostics=map(_diagnostic, inferred.diagnostics))


def _diagnostic(found: Diagnostic) -> wire.Diagnostic:
    location = found.location
    return wire.Diagnostic(
        code=found.code,
        severity=SEVERITIES[found.severity],
        message=found.message,
        line=location.line,
        column=location.column,
        end_line=location.end_line,
        end_column=location.end_column,
        function=found.function,
        parameter=found.parameter,
    )
