"""Exchanges with Envoy's external processor, with a gRPC client in place of Envoy."""

import json
import queue
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import grpc
from sidecheck_server.gateways.generated.external_processor_pb2 import (
    HeaderMap,
    HeaderValue,
    HttpBody,
    HttpHeaders,
    ProcessingRequest,
    ProcessingResponse,
)

__all__ = ["Exchange", "Relayed", "headers", "part", "relay", "request_body", "response_body"]

_SECONDS = 180
_METHOD = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"


def headers(name: str, **values: str) -> ProcessingRequest:
    """Return the part *name* with headers; ``_`` begins a pseudo-header."""
    return part(name, *((key.replace("_", ":", 1), value) for key, value in values.items()))


def part(name: str, *fields: tuple[str, str], is_last: bool = False) -> ProcessingRequest:
    """Return the part *name* with the headers *fields*."""
    items = [HeaderValue(key=key, raw_value=value.encode("latin-1")) for key, value in fields]
    content: Any = {name: HttpHeaders(headers=HeaderMap(headers=items), end_of_stream=is_last)}
    return ProcessingRequest(**content)


def request_body(body: bytes) -> ProcessingRequest:
    """Return the part with the whole *body* of a request."""
    return ProcessingRequest(request_body=HttpBody(body=body, end_of_stream=True))


def response_body(body: bytes, *, is_last: bool = False) -> ProcessingRequest:
    """Return the part with *body*, the whole body of a response or a chunk of it."""
    return ProcessingRequest(response_body=HttpBody(body=body, end_of_stream=is_last))


class Exchange:
    """An open stream of a gateway."""

    def __init__(self, channel: grpc.Channel, metadata: Any) -> None:
        self._parts: queue.SimpleQueue[ProcessingRequest | bytes | None] = queue.SimpleQueue()
        method: Any = channel.stream_stream(
            _METHOD,
            request_serializer=_serialize,
            response_deserializer=ProcessingResponse.FromString,
        )
        self._call = method(iter(self._parts.get, None), metadata=metadata, timeout=_SECONDS)

    def send(self, *parts: ProcessingRequest | bytes) -> ProcessingResponse:
        """Return the response to the last of *parts*.

        Raises:
            grpc.RpcError: the gateway ends the stream.
        """
        answer = None
        for request_part in parts:
            self._parts.put(request_part)
            answer = next(self._call)
        assert isinstance(answer, ProcessingResponse)
        return answer

    def put(self, part: ProcessingRequest) -> None:
        """Send *part* without reading its response."""
        self._parts.put(part)

    def close(self) -> None:
        """End the stream, and read the remaining responses."""
        self._parts.put(None)
        list(self._call)

    def cancel(self) -> None:
        """Cancel the stream."""
        self._call.cancel()
        self._parts.put(None)


@dataclass
class Relayed:
    """Outcome of an exchange, as Envoy relays it."""

    #: The name of the processor's last answer.
    answer: str = ""
    #: The request at the server, and the response at the client.
    server: bytes = b""
    client: bytes = b""


def relay(exchange: Exchange, parts: Iterable[ProcessingRequest | bytes]) -> Relayed:
    """Send *parts* until the gateway ends the exchange; return the outcome."""
    relayed = Relayed()
    for request_part in parts:
        try:
            response = exchange.send(request_part)
        except grpc.RpcError as error:
            status: Any = error
            relayed.answer = f"{status.code().name}: {status.details()}"
            return relayed
        match str(response.WhichOneof("response")):
            case "immediate_response":
                immediate = response.immediate_response
                relayed.answer = f"{immediate.status.code} {describe(immediate.body)}".strip()
                relayed.client += immediate.body
                break
            case "request_body":
                relayed.server += _body(request_part, "request_body", response)
                relayed.answer = f"the server gets {describe(relayed.server) or 'no body'}"
            case "response_body":
                relayed.client += _body(request_part, "response_body", response)
                relayed.answer = f"the client gets {describe(relayed.client) or 'no message'}"
            case _:
                relayed.answer = "headers pass"
    exchange.close()
    return relayed


def _body(part: Any, name: str, response: ProcessingResponse) -> bytes:
    """Return the bytes of the body in *part*, called *name*, that the gateway forwards."""
    common = getattr(response, name).response
    own: bytes = getattr(part, name).body
    return common.body_mutation.body if common.HasField("body_mutation") else own


def describe(body: bytes) -> str:
    """Return the kinds of the messages in *body*, which is JSON or events."""
    lines = [line.removeprefix(b"data: ") for line in body.split(b"\n")]
    texts = [json.loads(line) for line in lines if line[:1] in {b"{", b"["}]
    messages = [
        item for message in texts for item in (message if isinstance(message, list) else [message])
    ]
    kinds = Counter(map(_kind, messages))
    return ", ".join(kind if count == 1 else f"{count} x {kind}" for kind, count in kinds.items())


def _kind(message: Any) -> str:
    if "error" in message:
        return f"error {message['error']['code']}"
    if "result" in message:
        return "failed tool" if message["result"].get("isError") else "result"
    return str(message.get("method", "a message"))


def _serialize(part: ProcessingRequest | bytes) -> bytes:
    return part if isinstance(part, bytes) else part.SerializeToString()
