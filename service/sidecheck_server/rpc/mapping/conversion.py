"""Requests and responses of ConversionService."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sidecheck.v1 import conversion_service_pb2 as proto

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
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import check_version_known
from sidecheck_server.rpc.mapping.context import request_context_from_proto
from sidecheck_server.rpc.mapping.fields import unknown_value
from sidecheck_server.rpc.mapping.subjects import check_request_from_proto
from sidecheck_server.rpc.mapping.targets import target_from_proto
from sidecheck_server.rpc.mapping.verdicts import (
    changes_to_proto,
    outcome_to_proto,
    protocol_verdict_to_proto,
)
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.services.conversion import Conversion, ToolsToConvert, ToolToConvert
from sidecheck_server.services.model_calls import (
    CallToConvert,
    ConvertedCall,
    ConvertedResult,
    ResultToConvert,
)
from sidecheck_server.services.offload import TimeSlice
from sidecheck_server.services.validation import ValidationOptions

__all__ = [
    "call_from_proto",
    "conversion_to_proto",
    "converted_call_to_proto",
    "converted_result_to_proto",
    "effect_to_proto",
    "losses_to_proto",
    "result_from_proto",
    "tools_to_convert_from_proto",
]

_APIS: Mapping[int, ModelApi] = MappingProxyType(
    {
        proto.MODEL_API_OPENAI_CHAT: ModelApi.OPENAI_CHAT,
        proto.MODEL_API_OPENAI_RESPONSES: ModelApi.OPENAI_RESPONSES,
        proto.MODEL_API_ANTHROPIC: ModelApi.ANTHROPIC,
        proto.MODEL_API_GEMINI: ModelApi.GEMINI,
        proto.MODEL_API_GEMINI_JSON: ModelApi.GEMINI_JSON,
        proto.MODEL_API_BEDROCK: ModelApi.BEDROCK,
        proto.MODEL_API_MISTRAL: ModelApi.MISTRAL,
        proto.MODEL_API_OLLAMA: ModelApi.OLLAMA,
        proto.MODEL_API_MCP: ModelApi.MCP,
    }
)
_MODES: Mapping[int, Mode] = MappingProxyType(
    {
        proto.CONVERSION_MODE_UNSPECIFIED: Mode.COMPATIBLE,
        proto.CONVERSION_MODE_COMPATIBLE: Mode.COMPATIBLE,
        proto.CONVERSION_MODE_STRICT_IF_LOSSLESS: Mode.STRICT_IF_LOSSLESS,
        proto.CONVERSION_MODE_STRICT: Mode.STRICT,
    }
)
_PREFIXES: Mapping[int, ServerPrefix] = MappingProxyType(
    {
        proto.SERVER_PREFIX_UNSPECIFIED: ServerPrefix.AUTOMATIC,
        proto.SERVER_PREFIX_AUTOMATIC: ServerPrefix.AUTOMATIC,
        proto.SERVER_PREFIX_ALWAYS: ServerPrefix.ALWAYS,
        proto.SERVER_PREFIX_NEVER: ServerPrefix.NEVER,
    }
)
_ACTIONS: Mapping[Action, proto.Loss.Action] = MappingProxyType(
    {
        Action.KEPT: proto.Loss.ACTION_KEPT,
        Action.DESCRIBED: proto.Loss.ACTION_DESCRIBED,
        Action.REWRITTEN: proto.Loss.ACTION_REWRITTEN,
        Action.ENCODED: proto.Loss.ACTION_ENCODED,
        Action.DROPPED: proto.Loss.ACTION_DROPPED,
    }
)
_EFFECTS: Mapping[Effect, proto.Loss.Effect] = MappingProxyType(
    {
        Effect.EQUIVALENT: proto.Loss.EFFECT_EQUIVALENT,
        Effect.WIDENED: proto.Loss.EFFECT_WIDENED,
        Effect.NARROWED: proto.Loss.EFFECT_NARROWED,
    }
)


def _api(api: int) -> Provider:
    """Return the provider of the enum value *api*.

    Raises:
        RequestError: INVALID_REQUEST if it is unspecified or unknown.
    """
    if api == proto.MODEL_API_UNSPECIFIED:
        raise RequestError(
            ErrorReason.INVALID_REQUEST, "api must be set; there is no default", {"field": "api"}
        )
    key = _APIS.get(api)
    if key is None:
        raise unknown_value("api")
    return PROVIDERS[key]


async def tools_to_convert_from_proto(
    request: proto.ConvertToolsRequest, limits: Limits
) -> ToolsToConvert:
    """Return the tools of a request, with the options of their conversion.

    Raises:
        RequestError: INVALID_REQUEST for an unknown enum value; LIMIT_EXCEEDED if there are
            too many tools, which are counted before they are read; UNKNOWN_PROTOCOL_VERSION.
    """
    api = _api(request.api)
    check_version_known(request.options.protocol_version)
    mode, prefix = _MODES.get(request.options.mode), _PREFIXES.get(request.options.server_prefix)
    if mode is None:
        raise unknown_value("mode")
    if prefix is None:
        raise unknown_value("server_prefix")
    count = len(request.tools) + len(request.servers)
    if count > limits.batch_items:
        raise limit_exceeded_error(
            "batch_items", limits.batch_items, "the tools and servers", count
        )
    options = ConversionOptions(
        mode=mode,
        server_prefix=prefix,
        assume_closed=request.options.assume_closed,
        description_length=request.options.description_length,
        include_output_schema=request.options.include_output_schema,
        drop_defaults=request.options.drop_defaults,
        protocol_version=request.options.protocol_version,
    )
    tools, time_slice = [], TimeSlice()
    for tool in request.tools:
        tools.append(_tool(tool))
        await time_slice.yield_if_over()
    return ToolsToConvert(api, options, tuple(tools), tuple(request.servers))


def _tool(tool: proto.ToolToConvert) -> ToolToConvert:
    if tool.tool.WhichOneof("target") is None:
        # The error becomes the outcome of the tool, and does not affect other tools.
        error = RequestError(ErrorReason.INVALID_REQUEST, "the tool is not set", {"field": "tool"})
        return ToolToConvert(error, tool.server)
    return ToolToConvert(target_from_proto(tool.tool), tool.server)


def _converted_tool(tool: ConvertedTool) -> proto.ConvertedTool:
    return proto.ConvertedTool(
        json=tool.json,
        name=tool.name,
        strict=tool.strict,
        mapping=tool.mapping,
        losses=losses_to_proto(tool.losses),
        not_strict_reason=tool.not_strict_reason,
    )


def conversion_to_proto(conversion: Conversion) -> proto.ToolConversion:
    """Return the message of the conversion of a tool."""
    server, name, outcome = conversion.server, conversion.name, conversion.outcome
    if isinstance(outcome, RequestError):
        return proto.ToolConversion(server=server, name=name, error=status_from_error(outcome))
    return proto.ToolConversion(server=server, name=name, converted=_converted_tool(outcome))


def converted_call_to_proto(call: ConvertedCall) -> proto.ConvertToolCallResponse:
    """Return the message of a converted call."""
    return proto.ConvertToolCallResponse(
        server=call.server,
        tool=call.tool,
        call_id=call.call_id,
        call_params=call.params,
        verdict=outcome_to_proto(call.outcome),
        changes=changes_to_proto(call.changes),
        name=call.verdict.tool,
    )


def converted_result_to_proto(result: ConvertedResult) -> proto.ConvertToolResultResponse:
    """Return the message of a converted result."""
    return proto.ConvertToolResultResponse(
        message=result.message,
        losses=losses_to_proto(result.losses),
        verdict=protocol_verdict_to_proto(result.verdict),
    )


def effect_to_proto(losses: Iterable[Loss]) -> proto.Loss.Effect:
    """Return the worst effect of *losses*."""
    effects = {loss.effect for loss in losses}
    worst = next((effect for effect in reversed(Effect) if effect in effects), Effect.EQUIVALENT)
    return _EFFECTS[worst]


def losses_to_proto(losses: Iterable[Loss]) -> list[proto.Loss]:
    """Return the messages of *losses*."""
    return [
        proto.Loss(
            pointer=loss.pointer,
            keyword=loss.keyword,
            action=_ACTIONS[loss.action],
            effect=_EFFECTS[loss.effect],
            message=loss.message,
        )
        for loss in losses
    ]


def call_from_proto(
    request: proto.ConvertToolCallRequest, options: ValidationOptions, limits: Limits
) -> CallToConvert:
    """Return the call of a request.

    Raises:
        RequestError: LIMIT_EXCEEDED if there are too many mappings.
    """
    count = len(request.mappings)
    if count > limits.batch_items:
        raise limit_exceeded_error("batch_items", limits.batch_items, "the mappings", count)
    target = target_from_proto(request.tool) if request.HasField("tool") else None
    return CallToConvert(request.call, tuple(request.mappings), target, options)


def result_from_proto(
    request: proto.ConvertToolResultRequest, limits: Limits, default_version: str
) -> ResultToConvert:
    """Return the result of a request, with the options of its check.

    Raises:
        RequestError: INVALID_REQUEST if there is no result, or for an unknown enum value; as
            `request_context_from_proto`.
    """
    api = _api(request.api)
    if not request.HasField("result"):
        raise RequestError(
            ErrorReason.INVALID_REQUEST, "the request has no result to convert", {"field": "result"}
        )
    context = request_context_from_proto(request.context, request.options, limits, default_version)
    check_request = check_request_from_proto(request.result, context)
    target = target_from_proto(request.result.tool) if request.result.HasField("tool") else None
    return ResultToConvert(
        api, check_request, target, context.names_version, request.call_id, request.name
    )
