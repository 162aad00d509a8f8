"""Answers about conversion: tools, calls and results, bounded as batches are."""

from sidecheck.v1.conversion_service_pb2 import (
    ConvertToolCallRequest,
    ConvertToolCallResponse,
    ConvertToolResultRequest,
    ConvertToolResultResponse,
    ConvertToolsRequest,
    ConvertToolsResponse,
    ToolConversion,
)

from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.rpc.batches import Batch, Turn, refuse_large_answer
from sidecheck_server.rpc.mapping import (
    call_to_restore_from_wire,
    changes_to_wire,
    checked_to_wire,
    converted_to_wire,
    losses_to_wire,
    options_from_wire,
    result_to_tell_from_wire,
    tools_to_convert_from_wire,
)
from sidecheck_server.rpc.replies import answer_to_arguments
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.services.conversion import Conversion, Converter
from sidecheck_server.services.model_calls import Restorer
from sidecheck_server.services.result_messages import ResultConverter

__all__ = ["answer_conversion", "answer_restored", "answer_told"]


async def answer_conversion(
    request: ConvertToolsRequest, converter: Converter, limits: Limits
) -> ConvertToolsResponse:
    """Return what becomes of the tools of *request*.

    Raises:
        Refusal: LIMIT_EXCEEDED or INVALID_REQUEST.
    """
    done = await converter.convert(tools_to_convert_from_wire(request, limits))
    response = ConvertToolsResponse(request=checked_to_wire(done.request))
    batch, turn = Batch(len(done.tools), limits), Turn()
    for one in done.tools:
        if not isinstance(one.outcome, RequestError):
            batch.take_text(one.outcome.length, "the converted tools")
        response.conversions.append(_conversion(one))
        await turn.over()
    refuse_large_answer(response, limits)
    return response


def _conversion(one: Conversion) -> ToolConversion:
    if isinstance(one.outcome, RequestError):
        refused = status_from_error(one.outcome)
        return ToolConversion(server=one.server, name=one.name, error=refused)
    converted = converted_to_wire(one.outcome)
    return ToolConversion(server=one.server, name=one.name, converted=converted)


async def answer_restored(
    request: ConvertToolCallRequest, restorer: Restorer, limits: Limits
) -> ConvertToolCallResponse:
    """Return the call of *request* as MCP has it, with the verdict on its arguments.

    Raises:
        Refusal: it cannot be told what the call means.
    """
    asked = options_from_wire(request.options, limits)
    restored = await restorer.restore(call_to_restore_from_wire(request, asked, limits))
    response = ConvertToolCallResponse(
        server=restored.server,
        tool=restored.tool,
        call_id=restored.call_id,
        call_params=restored.params,
        verdict=answer_to_arguments(restored.whole, asked),
        changes=changes_to_wire(restored.changes),
        name=restored.whole.tool,
    )
    refuse_large_answer(response, limits)
    return response


async def answer_told(
    request: ConvertToolResultRequest, results: ResultConverter, limits: Limits
) -> ConvertToolResultResponse:
    """Return the message that tells the model the result of *request*.

    Raises:
        Refusal: it cannot be checked, or the API needs to be told more.
    """
    told = await results.convert(result_to_tell_from_wire(request, limits))
    response = ConvertToolResultResponse(
        message=told.message,
        losses=losses_to_wire(told.losses),
        verdict=checked_to_wire(told.verdict),
    )
    refuse_large_answer(response, limits)
    return response
