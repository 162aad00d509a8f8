"""Definitions of tools, or a listing of them: an outcome for each, bounded as batches are."""

import asyncio
from dataclasses import replace

from sidecheck.v1.protocol_service_pb2 import CheckToolsRequest, CheckToolsResponse

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.checking import outcomes
from sidecheck_server.core.mcp.listing import Listing, read_listing
from sidecheck_server.core.mcp.subjects import Asked
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.words import Verdict
from sidecheck_server.rpc.batches import Batch
from sidecheck_server.rpc.convert import Terms, terms_from_wire, tools_from_wire, tools_to_wire
from sidecheck_server.state.protocol import Checker
from sidecheck_server.state.targets import InlineTool
from sidecheck_server.state.tools import check_tools

__all__ = ["answer_tools"]

_DUPLICATES = "several tools have this name; a tool is known by its name alone"


async def answer_tools(
    request: CheckToolsRequest, checker: Checker, limits: Limits
) -> CheckToolsResponse:
    """Return what is wrong with the definitions of *request*.

    Raises:
        Refusal: LIMIT_EXCEEDED; INVALID_REQUEST or UNKNOWN_PROTOCOL_VERSION; WORKER_LOST.
    """
    if bool(request.listing) == bool(request.tools):
        said = "a check of tools needs either a listing or tools; it has both or neither"
        raise Refusal(Reason.INVALID_REQUEST, said, {"field": "listing"})
    if len(request.tools) > limits.batch_items:
        raise exceeded("batch_items", limits.batch_items, "the tools", len(request.tools))
    terms = terms_from_wire(request.context, request.options, limits)
    tools, documents = tools_from_wire(request)
    pointers = [""] * len(tools)
    around = Verdict()
    if request.listing:
        try:
            listing = await _read(request.listing, limits)
        except Refusal as refusal:
            if refusal.reason is not Reason.INVALID_TOOL:
                raise
            broken = Verdict.listing(refusal.problems[: terms.how.most])
            return tools_to_wire((), broken)
        tools = [InlineTool(tool.json, documents) for tool in listing.tools]
        pointers = [tool.pointer for tool in listing.tools]
        around = await _around(listing, checker, terms)
    checked = await check_tools(checker, tools, terms.context, terms.how)
    batch = Batch(len(tools), limits)
    told = [
        replace(one, verdict=batch.cut(one.verdict))
        for one in outcomes(checked, pointers, _DUPLICATES)
    ]
    return tools_to_wire(told, around)


async def _read(text: bytes, limits: Limits) -> Listing:
    if len(text) <= limits.bytes_at_once:
        return read_listing(text, limits)
    # Megabytes take longer than a moment; other calls have their turn in between.
    return await asyncio.to_thread(read_listing, text, limits)


async def _around(listing: Listing, checker: Checker, terms: Terms) -> Verdict:
    """Return the verdict on what stands around the definitions of *listing*."""
    if listing.answer is None:
        return Verdict()
    checked = await checker.check(Asked(listing.answer, terms.context, terms.how))
    return checked.findings.verdict()
