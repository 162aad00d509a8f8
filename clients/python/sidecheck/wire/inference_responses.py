"""From the responses about source text to values."""

from sidecheck.inferred import Diagnostic, Inferred, InferredTool
from sidecheck.texts import JsonText
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.wire.responses import carried, severity

__all__ = ["inferred"]


def inferred(response: inference_pb.InferToolsResponse) -> Inferred:
    """Translate what a text gave."""
    return Inferred(
        tools=tuple(
            carried(one, InferredTool, json=JsonText(one.json), digest=one.definition_digest)
            for one in response.tools
        ),
        diagnostics=tuple(
            carried(one, Diagnostic, severity=severity(one.severity))
            for one in response.diagnostics
        ),
    )
