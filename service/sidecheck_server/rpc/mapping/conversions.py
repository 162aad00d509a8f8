"""Tools to convert and what became of them, calls and results, between the wire and the core."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sidecheck.v1 import conversion_service_pb2 as wire

from sidecheck_server.core.convert.converted_tool import ConvertedTool
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.providers.provider import Provider
from sidecheck_server.core.convert.types import (
    Action,
    ConversionOptions,
    Effect,
    Loss,
    Mode,
    ModelApi,
    ServerPrefix,
)
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.rpc.mapping.context import terms_from_wire
from sidecheck_server.rpc.mapping.options import ValidationOptions
from sidecheck_server.rpc.mapping.subjects import asked_from_wire
from sidecheck_server.rpc.mapping.targets import target_from_wire
from sidecheck_server.rpc.mapping.values import no_such_value
from sidecheck_server.services.conversion import ToolsToConvert, ToolToConvert
from sidecheck_server.services.model_calls import CallToRestore
from sidecheck_server.services.result_messages import ResultToTell

__all__ = [
    "call_to_restore_from_wire",
    "converted_to_wire",
    "losses_to_wire",
    "result_to_tell_from_wire",
    "tools_to_convert_from_wire",
]

_APIS: Mapping[int, ModelApi] = MappingProxyType(
    {
        wire.MODEL_API_OPENAI_CHAT: ModelApi.OPENAI_CHAT,
        wire.MODEL_API_OPENAI_RESPONSES: ModelApi.OPENAI_RESPONSES,
        wire.MODEL_API_ANTHROPIC: ModelApi.ANTHROPIC,
        wire.MODEL_API_GEMINI: ModelApi.GEMINI,
        wire.MODEL_API_GEMINI_JSON: ModelApi.GEMINI_JSON,
        wire.MODEL_API_BEDROCK: ModelApi.BEDROCK,
        wire.MODEL_API_MISTRAL: ModelApi.MISTRAL,
        wire.MODEL_API_OLLAMA: ModelApi.OLLAMA,
    }
)
_MODES: Mapping[int, Mode] = MappingProxyType(
    {
        wire.CONVERSION_MODE_UNSPECIFIED: Mode.COMPATIBLE,
        wire.CONVERSION_MODE_COMPATIBLE: Mode.COMPATIBLE,
        wire.CONVERSION_MODE_STRICT_IF_LOSSLESS: Mode.STRICT_IF_LOSSLESS,
        wire.CONVERSION_MODE_STRICT: Mode.STRICT,
    }
)
_PREFIXES: Mapping[int, ServerPrefix] = MappingProxyType(
    {
        wire.SERVER_PREFIX_UNSPECIFIED: ServerPrefix.AUTOMATIC,
        wire.SERVER_PREFIX_AUTOMATIC: ServerPrefix.AUTOMATIC,
        wire.SERVER_PREFIX_ALWAYS: ServerPrefix.ALWAYS,
        wire.SERVER_PREFIX_NEVER: ServerPrefix.NEVER,
    }
)
_ACTIONS: Mapping[Action, wire.Loss.Action] = MappingProxyType(
    {
        Action.KEPT: wire.Loss.ACTION_KEPT,
        Action.DESCRIBED: wire.Loss.ACTION_DESCRIBED,
        Action.REWRITTEN: wire.Loss.ACTION_REWRITTEN,
        Action.ENCODED: wire.Loss.ACTION_ENCODED,
        Action.DROPPED: wire.Loss.ACTION_DROPPED,
    }
)
_DIRECTIONS: Mapping[Effect, wire.Loss.Effect] = MappingProxyType(
    {
        Effect.EQUIVALENT: wire.Loss.EFFECT_EQUIVALENT,
        Effect.WIDENED: wire.Loss.EFFECT_WIDENED,
        Effect.NARROWED: wire.Loss.EFFECT_NARROWED,
    }
)


def _api(api: int) -> Provider:
    """Return the facts of *api*.

    Raises:
        Refusal: INVALID_REQUEST if it is none, or not told.
    """
    if api == wire.MODEL_API_UNSPECIFIED:
        said = "the request must say which api it is for; there is no default"
        raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "api"})
    key = _APIS.get(api)
    if key is None:
        raise no_such_value("api")
    return PROVIDERS[key]


def tools_to_convert_from_wire(request: wire.ConvertToolsRequest, limits: Limits) -> ToolsToConvert:
    """Return the tools that a request has converted, and how.

    Raises:
        Refusal: INVALID_REQUEST for an enum value that does not exist; LIMIT_EXCEEDED if
            there are too many tools, which are counted before they are read.
    """
    api = _api(request.api)
    mode, prefix = _MODES.get(request.options.mode), _PREFIXES.get(request.options.server_prefix)
    if mode is None:
        raise no_such_value("mode")
    if prefix is None:
        raise no_such_value("server_prefix")
    count = len(request.tools) + len(request.servers)
    if count > limits.batch_items:
        raise exceeded("batch_items", limits.batch_items, "the tools and servers", count)
    options = ConversionOptions(
        mode=mode,
        server_prefix=prefix,
        assume_closed=request.options.assume_closed,
        description_length=request.options.description_length,
        include_output_schema=request.options.include_output_schema,
    )
    tools = tuple(map(_tool, request.tools))
    return ToolsToConvert(api, options, tools, tuple(request.servers))


def _tool(sent: wire.ToolToConvert) -> ToolToConvert:
    if sent.tool.WhichOneof("target") is None:
        # It must not cost the others.
        refusal = RequestError(ErrorReason.INVALID_REQUEST, "no tool is named", {"field": "tool"})
        return ToolToConvert(refusal, sent.server)
    return ToolToConvert(target_from_wire(sent.tool), sent.server)


def converted_to_wire(tool: ConvertedTool) -> wire.ConvertedTool:
    """Return the message of a converted tool."""
    return wire.ConvertedTool(
        json=tool.json,
        name=tool.name,
        strict=tool.strict,
        mapping=tool.mapping,
        losses=losses_to_wire(tool.losses),
        not_strict_reason=tool.not_strict_reason,
    )


def losses_to_wire(losses: Iterable[Loss]) -> list[wire.Loss]:
    """Return the messages of *losses*."""
    return [
        wire.Loss(
            pointer=loss.pointer,
            keyword=loss.keyword,
            action=_ACTIONS[loss.action],
            effect=_DIRECTIONS[loss.effect],
            message=loss.message,
        )
        for loss in losses
    ]


def call_to_restore_from_wire(
    request: wire.ConvertToolCallRequest, asked: ValidationOptions, limits: Limits
) -> CallToRestore:
    """Return the call that a request has restored.

    Raises:
        Refusal: LIMIT_EXCEEDED if there are too many plans.
    """
    count = len(request.mappings)
    if count > limits.batch_items:
        raise exceeded("batch_items", limits.batch_items, "the plans", count)
    target = target_from_wire(request.tool) if request.HasField("tool") else None
    return CallToRestore(
        request.call,
        tuple(request.mappings),
        target,
        asked.how,
        assert_formats=asked.assert_formats,
    )


def result_to_tell_from_wire(
    request: wire.ConvertToolResultRequest, limits: Limits
) -> ResultToTell:
    """Return the result that a request has converted, and how it is checked.

    Raises:
        Refusal: INVALID_REQUEST if there is none, or for an enum value that does not
            exist; as `terms_from_wire`.
    """
    api = _api(request.api)
    if not request.HasField("result"):
        said = "the request has no result to convert"
        raise RequestError(ErrorReason.INVALID_REQUEST, said, {"field": "result"})
    terms = terms_from_wire(request.context, request.options, limits)
    asked = asked_from_wire(request.result, terms)
    target = target_from_wire(request.result.tool) if request.result.HasField("tool") else None
    return ResultToTell(api, asked, target, request.call_id, request.name)
