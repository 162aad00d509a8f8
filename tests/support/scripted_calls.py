"""Client with scripted responses instead of a server."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from google.protobuf.message import Message
from sidecheck import BlockingClient, OnUnavailable
from sidecheck.v1.comparison_pb2 import CHANGE_LEVEL_COSMETIC
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest, GetServerInfoResponse, Limits
from sidecheck.v1.registry_service_pb2 import CompareToolsResponse
from sidecheck.wire.rpcs import find_rpc

__all__ = [
    "Call",
    "ScriptedChannel",
    "capture",
    "replay",
    "scripted_client",
    "smallest_response",
]

#: The fields of a request and its response with one element for each item.
ITEMS = ("items", "names", "tools")
OUTCOMES = ("outcomes", "conversions", "deleted")

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its request and its deadline in seconds."""

    request: Message
    timeout: float


class ScriptedChannel:
    """Substitute for a channel; it raises responses that are exceptions."""

    def __init__(self, *responses: object) -> None:
        self.calls: list[Call] = []
        self.responses: list[Any] = list(responses)

    def call(self, request: Message, timeout: float) -> Any:
        self.calls.append(Call(request, timeout))
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response(request) if callable(response) else response


def scripted_client(on_unavailable: OnUnavailable = "error") -> BlockingClient:
    """Return a client for `replay` with a deadline of 2 seconds."""
    client = BlockingClient("localhost:1", timeout=2.0, on_unavailable=on_unavailable)
    client.close()
    return client


def replay(
    client: BlockingClient, call: Callable[[BlockingClient], Value], *responses: object
) -> tuple[Value, list[Call]]:
    """Return the result of *call* and its calls; all *responses* must be used."""
    channel: Any = ScriptedChannel(*responses)
    client._connection._transport = channel
    value = call(client)
    assert [] == channel.responses
    return value, channel.calls


def capture(client: BlockingClient, call: Callable[[BlockingClient], object]) -> list[Message]:
    """Return the requests of *call*, except that for the limits."""
    channel: Any = ScriptedChannel(*[smallest_response] * 9)
    client._connection._transport = channel
    call(client)
    requests = [call.request for call in channel.calls]
    return [request for request in requests if not isinstance(request, GetServerInfoRequest)]


def smallest_response(request: Message) -> Message:
    """Return a response to *request* with only the fields that a client requires."""
    if isinstance(request, GetServerInfoRequest):
        limits = Limits(message_bytes=1_000_000, batch_items=100)
        return GetServerInfoResponse(limits=limits)
    response = find_rpc(type(request)).response()
    _fill(response)
    if isinstance(response, CompareToolsResponse):
        response.level = CHANGE_LEVEL_COSMETIC
    items = next((list(getattr(request, name, ())) for name in ITEMS if hasattr(request, name)), [])
    outcomes: Any = next((name for name in OUTCOMES if hasattr(response, name)), None)
    if outcomes == "deleted":
        getattr(response, outcomes).extend(items)
    elif outcomes is not None:
        for _ in items:
            _fill(getattr(response, outcomes).add())
    return response


def _fill(message: Any) -> None:
    """Set the messages and JSON texts in *message*, and the first field of a oneof."""
    for field in message.DESCRIPTOR.fields:
        oneof = field.containing_oneof
        if field.is_repeated or (oneof is not None and oneof.fields[0] is not field):
            continue
        if field.message_type is not None:
            getattr(message, field.name).SetInParent()
            _fill(getattr(message, field.name))
        elif field.type == field.TYPE_BYTES:
            setattr(message, field.name, b"{}")
