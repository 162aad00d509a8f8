"""Definitions of tools: an outcome for each, bounded as batches are."""

from dataclasses import replace

from sidecheck.v1.protocol_service_pb2 import CheckToolsRequest, CheckToolsResponse

from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.batches import Batch, Turn, refuse_large_answer
from sidecheck_server.rpc.mapping import checked_to_wire, tool_outcome_to_wire, tools_from_wire
from sidecheck_server.services.tools import ToolsChecker

__all__ = ["answer_tools"]


async def answer_tools(
    request: CheckToolsRequest, checker: ToolsChecker, limits: Limits
) -> CheckToolsResponse:
    """Return what is wrong with the definitions of *request*.

    Raises:
        Refusal: LIMIT_EXCEEDED; INVALID_REQUEST or UNKNOWN_PROTOCOL_VERSION.
    """
    checked = await checker.check(tools_from_wire(request, limits))
    response = CheckToolsResponse(tools_list_verdict=checked_to_wire(checked.listing))
    batch, turn = Batch(len(checked.outcomes), limits), Turn()
    for one in checked.outcomes:
        told = replace(one, verdict=batch.cut(one.verdict))
        response.outcomes.append(tool_outcome_to_wire(told))
        await turn.over()
    refuse_large_answer(response, limits)
    return response
