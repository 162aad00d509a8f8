"""From values to the messages of requests about definitions to project and what tools returned."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sidecheck.checks import CheckOptions, ProtocolContext
from sidecheck.json_values import json_value
from sidecheck.returned import Returned
from sidecheck.targets import Target, ToolDefinition, ToolJson
from sidecheck.texts import JsonText
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.wire import protocol_requests, requests
from sidecheck.wire.protocol_requests import PROFILES, label, protocol_text

__all__ = ["normalization_request", "projection_request"]


def value_text(value: Any) -> bytes:
    """Return the JSON text of what a function returned; only a `JsonText` is text already."""
    return value if isinstance(value, JsonText) else requests.ENCODE(json_value(value)).encode()


def sdk_text(value: Any) -> bytes:
    """Return the JSON text of JSON of the protocol, or of objects of an SDK."""
    return protocol_text(plain(value))


def plain(value: Any) -> Any:
    """Return objects of an SDK, one or a list of them, as JSON; other values as they are.

    What they were not given is left out: the protocol has no null for it.
    """
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode="json", by_alias=True, exclude_none=True)


def error_text(value: Any) -> str:
    """Return what an exception says, or the text itself.

    Raises:
        TypeError: It is neither.
    """
    if isinstance(value, BaseException):
        return str(value) or type(value).__name__
    if not isinstance(value, str):
        raise TypeError(f"an error is a str or an exception, not a {type(value).__name__}")
    return value


WRITERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "value": value_text,
    "content": sdk_text,
    "result": sdk_text,
    "error": error_text,
}


def normalization_request(
    returned: Returned, peers: ProtocolContext | None, how: CheckOptions | None
) -> protocol_pb.NormalizeToolResultRequest:
    """Return the request to make a result of what a tool returned."""
    way = returned.way
    return protocol_pb.NormalizeToolResultRequest(
        context=protocol_requests.context(peers),
        options=protocol_requests.options(how),
        tool=requests.target(returned.tool),
        profile=label("profile", returned.profile, PROFILES),
        **{way: WRITERS[way](getattr(returned, way))},
    )


def projection_request(
    tool: Target | ToolJson, protocol_version: str
) -> inference_pb.AdaptToolRequest:
    """Return the request to project a tool; bare JSON is a definition."""
    given = ToolDefinition(tool) if isinstance(tool, bytes | str | Mapping) else tool
    return inference_pb.AdaptToolRequest(
        tool=requests.target(given), protocol_version=protocol_version
    )
