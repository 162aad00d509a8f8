"""Definitions of tools, or a listing of them: an outcome for each, bounded as batches are."""

from dataclasses import replace

from sidecheck.v1.protocol_service_pb2 import CheckToolsRequest, CheckToolsResponse

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.rpc.batches import Batch
from sidecheck_server.rpc.convert import terms_from_wire, tools_from_wire, tools_to_wire
from sidecheck_server.state.tools import ToolsChecker, ToolsToCheck

__all__ = ["answer_tools"]


async def answer_tools(
    request: CheckToolsRequest, checker: ToolsChecker, limits: Limits
) -> CheckToolsResponse:
    """Return what is wrong with the definitions of *request*.

    Raises:
        Refusal: LIMIT_EXCEEDED; INVALID_REQUEST or UNKNOWN_PROTOCOL_VERSION.
    """
    # They are counted before they are read.
    if len(request.tools) > limits.batch_items:
        raise exceeded("batch_items", limits.batch_items, "the tools", len(request.tools))
    terms = terms_from_wire(request.context, request.options, limits)
    tools, documents = tools_from_wire(request)
    done = await checker.check(
        ToolsToCheck(request.listing, documents, tuple(tools), terms.context, terms.how)
    )
    batch = Batch(len(done.outcomes), limits)
    told = [replace(one, verdict=batch.cut(one.verdict)) for one in done.outcomes]
    return tools_to_wire(told, done.listing)
