"""Names of tools: many at a time, bounded as batches are."""

from dataclasses import replace

from sidecheck.v1.protocol_service_pb2 import CheckToolNamesRequest, CheckToolNamesResponse

from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.tools.names import CheckedNames, checking_names
from sidecheck_server.rpc.batches import Batch, Turn, refuse_large_answer
from sidecheck_server.rpc.mapping import (
    RequestContext,
    collision_to_wire,
    name_to_wire,
    terms_from_wire,
)

__all__ = ["answer_names"]

_STEPS_OF_ONE = 3_000
"""What a name takes at the worst, beside its length."""


async def answer_names(request: CheckToolNamesRequest, limits: Limits) -> CheckToolNamesResponse:
    """Return what is wrong with the names of *request*.

    Raises:
        Refusal: LIMIT_EXCEEDED; INVALID_REQUEST or UNKNOWN_PROTOCOL_VERSION.
    """
    count = len(request.names)
    if count > limits.batch_items:
        raise exceeded("batch_items", limits.batch_items, "the names", count)
    terms = terms_from_wire(request.context, request.options, limits)
    steps = limits.steps + _STEPS_OF_ONE * count
    try:
        checked = await _checked(list(request.names), terms, steps)
    except Exhausted:
        raise exceeded("steps", steps, "checking the names takes too long") from None
    response = CheckToolNamesResponse(collisions=map(collision_to_wire, checked.collisions))
    batch, turn = Batch(count, limits), Turn()
    for one in checked.names:
        batch.take_text(sum(map(len, one.sdk_warnings)), "what is told of the names")
        told = replace(one, verdict=batch.cut(one.verdict))
        response.outcomes.append(name_to_wire(told))
        await turn.over()
    refuse_large_answer(response, limits)
    return response


async def _checked(names: list[str], terms: RequestContext, steps: int) -> CheckedNames:
    turn = Turn()
    for done in checking_names(names, replace(terms.context, budget=[steps]), terms.how):
        if done is not None:
            return done
        await turn.over()
    raise AssertionError("what was found comes last")
