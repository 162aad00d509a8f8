"""Definitions of tools: an outcome for each, bounded as batches are."""

from dataclasses import replace

from sidecheck.v1.protocol_service_pb2 import CheckToolsRequest, CheckToolsResponse

from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.batches import Batch
from sidecheck_server.rpc.convert import tools_from_wire, tools_to_wire
from sidecheck_server.state.tools import ToolsChecker

__all__ = ["answer_tools"]


async def answer_tools(
    request: CheckToolsRequest, checker: ToolsChecker, limits: Limits
) -> CheckToolsResponse:
    """Return what is wrong with the definitions of *request*.

    Raises:
        Refusal: LIMIT_EXCEEDED; INVALID_REQUEST or UNKNOWN_PROTOCOL_VERSION.
    """
    checked = await checker.check(tools_from_wire(request, limits))
    batch = Batch(len(checked.outcomes), limits)
    outcomes = [replace(one, verdict=batch.cut(one.verdict)) for one in checked.outcomes]
    return tools_to_wire(replace(checked, outcomes=tuple(outcomes)))
