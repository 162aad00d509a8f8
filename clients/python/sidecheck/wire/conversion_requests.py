"""From values to the messages of requests to the service of conversions."""

from collections.abc import Iterable, Mapping
from typing import Final

from sidecheck.checks import CheckOptions, ProtocolContext, ProtocolJson, ToolResult
from sidecheck.converting import (
    ConversionOptions,
    Convertible,
    Mode,
    ModelApi,
    PlanJson,
    ServerPrefix,
    ToolToConvert,
)
from sidecheck.options import Options
from sidecheck.targets import Target, ToolDefinition
from sidecheck.v1 import conversion_service_pb2 as conversion_pb
from sidecheck.wire import protocol_requests, requests
from sidecheck.wire.protocol_requests import label, protocol_text

__all__ = ["call_request", "result_request", "tools_request"]

APIS: Final = {str(api): f"MODEL_API_{api.name}" for api in ModelApi}
MODES: Final = {str(mode): f"CONVERSION_MODE_{mode.name}" for mode in Mode}
PREFIXES: Final = {str(prefix): f"SERVER_PREFIX_{prefix.name}" for prefix in ServerPrefix}


def options(value: ConversionOptions | None) -> conversion_pb.ConversionOptions | None:
    """Translate options; none stays none, and means the server's defaults."""
    if value is None:
        return None
    if not isinstance(value, ConversionOptions):
        raise TypeError(f"options are ConversionOptions, not a {type(value).__name__}")
    return conversion_pb.ConversionOptions(
        mode=label("mode", value.mode, MODES),
        server_prefix=label("server prefix", value.server_prefix, PREFIXES),
        assume_closed=value.assume_closed,
        description_length=value.description_length,
        include_output_schema=value.include_output_schema,
    )


def tool(given: Convertible) -> conversion_pb.ToolToConvert:
    """Translate a tool to convert; bare JSON is a definition."""
    one = given if isinstance(given, ToolToConvert) else ToolToConvert(given)
    found = ToolDefinition(one.tool) if isinstance(one.tool, bytes | str | Mapping) else one.tool
    return conversion_pb.ToolToConvert(tool=requests.target(found), server=one.server)


def tools_request(
    api: ModelApi,
    tools: Iterable[Convertible],
    servers: Iterable[str],
    how: ConversionOptions | None,
) -> conversion_pb.ConvertToolsRequest:
    """Return the request to convert tools.

    Raises:
        TypeError: One tool, or one server, stands where several do.
    """
    if isinstance(tools, bytes | str | Mapping):
        raise TypeError("tools are given as several, not as one")
    if isinstance(servers, str):
        raise TypeError("servers are given as several strings, not as one")
    return conversion_pb.ConvertToolsRequest(
        api=label("API", api, APIS),
        options=options(how),
        tools=[tool(one) for one in tools],
        servers=servers,
    )


def call_request(
    call: ProtocolJson,
    plans: PlanJson | Iterable[PlanJson],
    original: Target | None,
    how: Options | None,
) -> conversion_pb.ConvertToolCallRequest:
    """Return the request to turn a call back; one plan stands for a list of it.

    Raises:
        TypeError: What stands for the plans is neither one nor several.
    """
    several = [plans] if isinstance(plans, bytes | str | Mapping) else plans
    if not isinstance(several, Iterable):
        raise TypeError(f"plans are those of `ConvertedTools.plans`, not a {type(plans).__name__}")
    return conversion_pb.ConvertToolCallRequest(
        call=protocol_text(call),
        mappings=[protocol_text(plan) for plan in several],
        tool=requests.target(original),
        options=requests.options(how),
    )


def result_request(
    api: ModelApi,
    result: ToolResult,
    call_id: str,
    name: str,
    peers: ProtocolContext | None,
    how: CheckOptions | None,
) -> conversion_pb.ConvertToolResultRequest:
    """Return the request to turn a result into a message."""
    _, translated = protocol_requests.named(result)
    return conversion_pb.ConvertToolResultRequest(
        api=label("API", api, APIS),
        result=translated,
        call_id=call_id,
        name=name,
        context=protocol_requests.context(peers),
        options=protocol_requests.options(how),
    )
