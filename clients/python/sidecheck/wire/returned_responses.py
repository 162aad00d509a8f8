"""From the responses about projected definitions and results to values."""

from sidecheck.returned import NormalizedResult, ProjectedTool
from sidecheck.texts import JsonText
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.wire.responses import carried, judged

__all__ = ["normalized", "projected"]


def normalized(response: protocol_pb.NormalizeToolResultResponse) -> NormalizedResult:
    """Translate a result that was made of what a tool returned."""
    return NormalizedResult(result=JsonText(response.result), verdict=judged(response.verdict))


def projected(response: inference_pb.ProjectToolResponse) -> ProjectedTool:
    """Translate a definition in the form for a version."""
    return carried(
        response, ProjectedTool, json=JsonText(response.json), left_out=tuple(response.left_out)
    )
