"""Parts of an exchange that Envoy does not send so: a client of gRPC in its place."""

import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from sidecheck_server.gateways.generated.external_processor_pb2 import (
    HeaderMap,
    HeaderValue,
    HttpBody,
    HttpHeaders,
    HttpTrailers,
    ProcessingRequest,
    ProcessingResponse,
)
from support.running import RunningServer

_SECONDS = 180
_METHOD = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
METADATA = (("sidecheck-server", "parts"), ("sidecheck-messages", "enforce"))


def headers(**values: str) -> HttpHeaders:
    """Return headers; a name that begins with an underscore, with a colon."""
    items = [
        HeaderValue(key=name.replace("_", ":", 1), raw_value=value.encode())
        for name, value in values.items()
    ]
    return HttpHeaders(headers=HeaderMap(headers=items))


POST = ProcessingRequest(request_headers=headers(_method="POST"))
PING = ProcessingRequest(
    request_body=HttpBody(body=b'{"jsonrpc":"2.0","id":1,"method":"ping"}', end_of_stream=True)
)
OK = ProcessingRequest(response_headers=headers(_status="200"))
BODY = ProcessingRequest(response_body=HttpBody(body=b"{}", end_of_stream=True))
TRAILERS = (
    ProcessingRequest(request_trailers=HttpTrailers()),
    ProcessingRequest(response_trailers=HttpTrailers()),
)


@pytest.fixture(scope="module")
def channel(sidecheck: RunningServer) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(sidecheck.address) as opened:
        yield opened


def send(channel: grpc.Channel, *requests: ProcessingRequest | bytes) -> tuple[list[str], str]:
    """Return which responses come to *requests*, and the status of the call."""
    call: Any = _process(channel)(iter(requests), metadata=METADATA, timeout=_SECONDS)
    names = []
    try:
        for response in call:
            names.append(response.WhichOneof("response"))
            assert "verdict_id" in response.dynamic_metadata["sidecheck"]
    except grpc.RpcError:
        return names, f"{call.code().name}: {call.details()}"
    return names, call.code().name


def _process(channel: grpc.Channel) -> Any:
    return channel.stream_stream(
        _METHOD, request_serializer=_serialized, response_deserializer=ProcessingResponse.FromString
    )


def _serialized(part: Any) -> Any:
    return part if isinstance(part, bytes) else part.SerializeToString()


WITHOUT_HEADERS = "INVALID_ARGUMENT: request_header_mode must be SEND in Envoy's processing_mode"
SEQUENCES: dict[str, tuple[list[Any], list[str], str]] = {
    "nothing": ([], [], "OK"),
    "half of an exchange": ([POST, PING], ["request_headers", "request_body"], "OK"),
    "a response to no request": ([OK], [], WITHOUT_HEADERS),
    "an error that Envoy responds itself": (
        [ProcessingRequest(response_headers=headers(_status="400")), BODY],
        ["response_headers", "response_body"],
        "OK",
    ),
    "a body first": ([PING], [], WITHOUT_HEADERS),
    "two requests": (
        [POST, POST],
        ["request_headers"],
        "INVALID_ARGUMENT: the headers of the request were sent before",
    ),
    "a body in parts": (
        [POST, PING, PING],
        ["request_headers", "request_body"],
        "INVALID_ARGUMENT: the body of the request was sent before",
    ),
    "a response without headers": (
        [POST, PING, BODY],
        ["request_headers", "request_body"],
        "INVALID_ARGUMENT: response_header_mode must be SEND in Envoy's processing_mode",
    ),
    "trailers": (
        [POST, *TRAILERS],
        ["request_headers", "request_trailers", "response_trailers"],
        "OK",
    ),
    "no part": (
        [POST, ProcessingRequest()],
        ["request_headers"],
        "INVALID_ARGUMENT: the message has no part of a request or response",
    ),
    "no message": (
        [POST, b"\xff"],
        ["request_headers"],
        f"INVALID_ARGUMENT: the request is not a message of the type {POST.DESCRIPTOR.full_name}",
    ),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_parts_in_no_order(channel: grpc.Channel, name: str) -> None:
    """A fault ends the call with its reason."""
    requests, responses, status = SEQUENCES[name]

    assert (responses, status) == send(channel, *requests)


def test_a_call_that_is_cancelled_is_completed(sidecheck: RunningServer) -> None:
    """It is cancelled in the middle of an exchange."""
    with grpc.insecure_channel(sidecheck.address) as channel:
        ended = threading.Event()

        def requests() -> Iterator[ProcessingRequest]:
            yield POST
            # The rest never comes.
            ended.wait(_SECONDS)

        call: Any = _process(channel)(requests(), metadata=METADATA)
        metadata = next(call).dynamic_metadata["sidecheck"]
        call.cancel()
        while sidecheck.wait_for("gateway.completed")["verdict_id"] != metadata["verdict_id"]:
            pass
        ended.set()
