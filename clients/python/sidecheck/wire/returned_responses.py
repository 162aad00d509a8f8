"""From the responses about projected definitions and results to values."""

from sidecheck.returned import AdaptedTool, NormalizedResult
from sidecheck.texts import JsonText
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.wire.responses import carried, judged

__all__ = ["adapt_schema", "normalized"]


def normalized(response: protocol_pb.NormalizeToolResultResponse) -> NormalizedResult:
    """Translate a result that was made of what a tool returned."""
    return NormalizedResult(result=JsonText(response.result), verdict=judged(response.verdict))


def adapt_schema(response: inference_pb.AdaptToolResponse) -> AdaptedTool:
    """Translate a definition in the form for a version."""
    return carried(
        response,
        AdaptedTool,
        json=JsonText(response.json),
        left_out=tuple(response.dropped_properties),
    )
