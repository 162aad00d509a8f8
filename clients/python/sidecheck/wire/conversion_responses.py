"""From the responses of the service of conversions to values."""

from collections.abc import Iterable
from typing import Final

from sidecheck.conversions import (
    Converted,
    ConvertedResult,
    ConvertedTools,
    Direction,
    Loss,
    LossAction,
    RestoredCall,
    ToolConversion,
)
from sidecheck.converting import ModelApi
from sidecheck.texts import JsonText
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.wire.responses import carried, changes, judged, status_refusal

__all__ = ["call", "result", "tools"]

ACTIONS: Final = {
    conversion_pb.Loss.ACTION_KEPT: LossAction.KEPT,
    conversion_pb.Loss.ACTION_DESCRIBED: LossAction.DESCRIBED,
    conversion_pb.Loss.ACTION_REWRITTEN: LossAction.REWRITTEN,
    conversion_pb.Loss.ACTION_ENCODED: LossAction.ENCODED,
    conversion_pb.Loss.ACTION_DROPPED: LossAction.DROPPED,
}
DIRECTIONS: Final = {
    conversion_pb.Loss.EFFECT_EQUIVALENT: Direction.SAME,
    conversion_pb.Loss.EFFECT_WIDENED: Direction.WIDER,
    conversion_pb.Loss.EFFECT_NARROWED: Direction.NARROWER,
}


def losses(messages: Iterable[conversion_pb.Loss]) -> tuple[Loss, ...]:
    """Translate losses."""
    return tuple(
        carried(
            one,
            Loss,
            action=ACTIONS.get(one.action, LossAction.UNSPECIFIED),
            direction=DIRECTIONS.get(one.effect, Direction.UNSPECIFIED),
        )
        for one in messages
    )


def converted(message: conversion_pb.ConvertedTool) -> Converted:
    """Translate a tool in the form of an API."""
    return carried(
        message,
        Converted,
        text=JsonText(message.json),
        plan=JsonText(message.mapping),
        losses=losses(message.losses),
    )


def conversion(message: conversion_pb.ToolConversion) -> ToolConversion:
    """Translate what became of one tool."""
    done = message.HasField("converted")
    outcome = converted(message.converted) if done else status_refusal(message.error)
    return carried(message, ToolConversion, outcome=outcome)


def tools(api: ModelApi, response: conversion_pb.ConvertToolsResponse) -> ConvertedTools:
    """Translate the answer to tools that were to be converted for *api*."""
    return ConvertedTools(
        api=api,
        conversions=tuple(conversion(one) for one in response.conversions),
        request=judged(response.request),
    )


def call(response: conversion_pb.ConvertToolCallResponse) -> RestoredCall:
    """Translate a call that was turned back."""
    return carried(
        response,
        RestoredCall,
        call_params=JsonText(response.call_params),
        verdict=judged(response.verdict),
        changes=changes(response.changes),
    )


def result(response: conversion_pb.ConvertToolResultResponse) -> ConvertedResult:
    """Translate a result that was turned into a message."""
    return ConvertedResult(
        message=JsonText(response.message),
        verdict=judged(response.verdict),
        losses=losses(response.losses),
    )
