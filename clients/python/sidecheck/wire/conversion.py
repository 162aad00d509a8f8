"""Messages of ConversionService."""

from collections.abc import Iterable
from typing import Final

from sidecheck.conversion import (
    ConversionOptions,
    ConvertedCall,
    ConvertedResult,
    ConvertedTool,
    ConvertedTools,
    Convertible,
    MappingJson,
    ModelApi,
    ToolConversion,
    ToolToConvert,
)
from sidecheck.json_texts import is_json_object, protocol_text
from sidecheck.json_types import JsonText
from sidecheck.protocol import CheckOptions, ProtocolContext, ProtocolJson, ToolResult
from sidecheck.targets import TARGETS, Target
from sidecheck.tool_lists import DEFINITIONS, list_tools
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.validation import Options
from sidecheck.wire import protocol
from sidecheck.wire.decoders.losses import decode_loss
from sidecheck.wire.decoders.verdict import decode_change, decode_verdict
from sidecheck.wire.encoders.conversion_options import encode_conversion_options
from sidecheck.wire.encoders.validation_options import encode_validation_options
from sidecheck.wire.errors import decode_item_error, require_count, require_field, require_json
from sidecheck.wire.values import copy_fields, encode_target, encode_tool_target, find_label

__all__ = [
    "decode_call",
    "decode_result",
    "decode_tools",
    "encode_call",
    "encode_result",
    "encode_tools",
]

APIS: Final = {str(api): f"MODEL_API_{api.name}" for api in ModelApi}

# Encoding


def encode_tools(
    api: ModelApi,
    tools: Convertible | Iterable[Convertible],
    servers: Iterable[str],
    options: ConversionOptions | None,
    version: str = "",
) -> conversion_pb.ConvertToolsRequest:
    """Return the request to convert tools; *version* is the client's protocol version.

    Raises:
        TypeError: *tools* or one of them is a ``str``, or *servers* is a single string.
        ValueError: *tools* is JSON text, but not a list of tools.
    """
    if isinstance(servers, str):
        raise TypeError("servers must be an iterable of strings, not a single string")
    return conversion_pb.ConvertToolsRequest(
        api=find_label("API", api, APIS),
        options=encode_conversion_options(options, version),
        tools=[
            encode_tool(tool, f"tools[{index}]")
            for index, tool in enumerate(list_tools(tools, (*DEFINITIONS, *TARGETS, ToolToConvert)))
        ],
        servers=servers,
    )


def encode_tool(tool: Convertible, name: str) -> conversion_pb.ToolToConvert:
    """Return the message for a tool to convert; errors refer to it as *name*."""
    entry = tool if isinstance(tool, ToolToConvert) else ToolToConvert(tool)
    return conversion_pb.ToolToConvert(
        tool=encode_tool_target(entry.tool, name), server=entry.server
    )


def encode_call(
    call: ProtocolJson,
    mappings: MappingJson | Iterable[MappingJson],
    tool: Target | None,
    options: Options | None,
) -> conversion_pb.ConvertToolCallRequest:
    """Return the request to convert a call; a single mapping is a list of one.

    Raises:
        TypeError: *mappings* is neither a mapping nor an iterable of mappings.
    """
    is_single = isinstance(mappings, str) or is_json_object(mappings)
    mapping_list = [mappings] if is_single else mappings
    if not isinstance(mapping_list, Iterable):
        raise TypeError(
            f"mappings must be those of ConvertedTools.mappings, not {type(mappings).__name__}"
        )
    return conversion_pb.ConvertToolCallRequest(
        call=protocol_text(call, "call"),
        mappings=[protocol_text(mapping, "mappings") for mapping in mapping_list],
        tool=encode_target(tool),
        options=encode_validation_options(options),
    )


def encode_result(
    api: ModelApi,
    result: ToolResult,
    call_id: str,
    name: str,
    context: ProtocolContext | None,
    options: CheckOptions | None,
) -> conversion_pb.ConvertToolResultRequest:
    """Return the request to convert a tool result."""
    _, message = protocol.name_item(result)
    return conversion_pb.ConvertToolResultRequest(
        api=find_label("API", api, APIS),
        result=message,
        call_id=call_id,
        name=name,
        context=protocol.encode_context(context),
        options=protocol.encode_options(options),
    )


# Decoding


def decode_tools(
    api: ModelApi, count: int | None, response: conversion_pb.ConvertToolsResponse
) -> ConvertedTools:
    """Return the result for *api*; *count* is the number of tools, if known."""
    if count is not None:
        require_count(response, "conversions", count)
    return ConvertedTools(
        api=api,
        conversions=tuple(decode_conversion(message) for message in response.conversions),
        request=decode_verdict(require_field(response, "request")),
    )


def decode_conversion(message: conversion_pb.ToolConversion) -> ToolConversion:
    """Return the outcome of the conversion of one tool."""
    if message.HasField("converted"):
        return copy_fields(message, ToolConversion, outcome=decode_tool(message.converted))
    return copy_fields(message, ToolConversion, outcome=decode_item_error(message.error))


def decode_tool(message: conversion_pb.ConvertedTool) -> ConvertedTool:
    """Return the converted tool in *message*."""
    return copy_fields(
        message,
        ConvertedTool,
        text=JsonText(require_json(message, "json")),
        mapping=JsonText(message.mapping),
        losses=tuple(map(decode_loss, message.losses)),
    )


def decode_call(response: conversion_pb.ConvertToolCallResponse) -> ConvertedCall:
    """Return the converted call of a response."""
    return copy_fields(
        response,
        ConvertedCall,
        call_params=JsonText(response.call_params),
        verdict=decode_verdict(require_field(response, "verdict")),
        changes=tuple(map(decode_change, response.changes)),
    )


def decode_result(response: conversion_pb.ConvertToolResultResponse) -> ConvertedResult:
    """Return the converted tool result of a response."""
    return ConvertedResult(
        message=JsonText(require_json(response, "message")),
        verdict=decode_verdict(require_field(response, "verdict")),
        losses=tuple(map(decode_loss, response.losses)),
    )
