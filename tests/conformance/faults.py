"""Servers that are slow, lost, overloaded, or no Sidecheck servers at all.

What a faulty server does not break it forwards to the real one.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from sidecheck.v1 import protocol_service_pb2 as protocol_pb
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2
from support.raw_servers import (
    Responder,
    http_answer,
    reset,
    serving_bytes,
    serving_frames,
    serving_messages,
)

from conformance.scripted import scripted

__all__ = ["faulty_servers"]

_DETAILS: Final = "grpc-status-details-bin"
_STREAM: Final = "/sidecheck.v1.ValidationService/ValidateStream"
_BATCH: Final = "/sidecheck.v1.ValidationService/ValidateBatch"
_BATCHES: Final[dict[str, tuple[Any, Any]]] = {
    _BATCH: (validation_pb.ValidateBatchRequest, validation_pb.ValidateBatchResponse),
    "/sidecheck.v1.ProtocolService/CheckBatch": (
        protocol_pb.CheckBatchRequest,
        protocol_pb.CheckBatchResponse,
    ),
}

_Fault = Callable[[str, bytes, Any], Awaitable[list[bytes] | None]]


@asynccontextmanager
async def faulty_servers(address: str) -> AsyncIterator[dict[str, str]]:
    """Serve all faults, forwarding to the server at *address*; yield the addresses by name."""
    async with AsyncExitStack() as stack:
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(address))
        forward = _forwarder(channel)
        addresses = {
            name: await stack.enter_async_context(serving_messages(respond))
            for name, respond in _responders(forward).items()
        }
        addresses["http_404"] = stack.enter_context(serving_frames(http_answer(404)))
        # INTERNAL_ERROR (RFC 9113, section 7).
        addresses["reset"] = stack.enter_context(serving_frames(reset(0x2)))
        addresses["refusing"] = stack.enter_context(serving_frames(_refuse_first))
        addresses["not_http2"] = stack.enter_context(
            serving_bytes(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        )
        with socket.socket() as unused:
            # A bound socket that does not listen reserves the port and refuses connections.
            unused.bind(("127.0.0.1", 0))
            addresses["nobody"] = f"127.0.0.1:{unused.getsockname()[1]}"
            yield addresses


def _forwarder(channel: grpc.aio.Channel) -> Responder:
    async def forward(path: str, request: bytes, context: Any) -> list[bytes] | None:
        send: Any = channel.unary_unary(path)
        try:
            return [await send(request, timeout=300)]
        except grpc.aio.AioRpcError as error:
            trailers = [(key, value) for key, value in error.trailing_metadata() if key == _DETAILS]
            await context.abort(error.code(), error.details() or "", tuple(trailers))
        return None

    return forward


def _refuse_first(stream: int) -> bytes:
    """Refuse eight streams of each connection; a proxy answers the others.

    Clients use odd ids, from 1 or 3 on (RFC 9113, section 5.1.1). REFUSED_STREAM is 0x7.
    """
    return (reset(0x7) if stream < 17 else http_answer(404))(stream)


def _responders(forward: Responder) -> dict[str, Responder]:
    return {
        "garbage": _always([b"\xff\xff\xff"]),
        "empty": _always([b""]),
        "no_message": _always(None),
        "overloaded": _failing_with(grpc.StatusCode.RESOURCE_EXHAUSTED, "OVERLOADED", seconds=1.5),
        "shutting_down": _failing_with(grpc.StatusCode.UNAVAILABLE, "SHUTTING_DOWN"),
        "unimplemented": _aborting(grpc.StatusCode.UNIMPLEMENTED, "unknown service"),
        "forbidden": _aborting(grpc.StatusCode.PERMISSION_DENIED, "a proxy says no"),
        "internal": _aborting(grpc.StatusCode.INTERNAL, "a proxy failed"),
        "not_found": _aborting(grpc.StatusCode.NOT_FOUND, "an application says no"),
        "too_large": _aborting(
            grpc.StatusCode.RESOURCE_EXHAUSTED, "Received message larger than max (9 vs. 8)"
        ),
        "crashing_workers": _crashing(forward),
        "scripted": scripted(forward),
        **_late_responders(forward),
        **_stream_responders(forward),
    }


def _late_responders(forward: Responder) -> dict[str, Responder]:
    """Return servers that respond late, not at once, or in part."""
    attempts: Counter[tuple[str, bytes]] = Counter()

    async def silent(_path: str, _request: bytes, _context: Any) -> list[bytes] | None:
        await asyncio.Event().wait()
        return None

    async def slow(path: str, request: bytes, context: Any) -> list[bytes] | None:
        await asyncio.sleep(0.2)
        return await forward(path, request, context)

    async def flaky(path: str, request: bytes, context: Any) -> list[bytes] | None:
        attempts[path, request] += 1
        if attempts[path, request] % 3:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the first two attempts fail")
        return await forward(path, request, context)

    async def short_batch(path: str, request: bytes, context: Any) -> list[bytes] | None:
        responses = await forward(path, request, context)
        if path != _BATCH or responses is None:
            return responses
        response = validation_pb.ValidateBatchResponse.FromString(responses[0])
        del response.outcomes[-1]
        return [response.SerializeToString()]

    return {"silent": silent, "slow": slow, "flaky": flaky, "short_batch": short_batch}


def _crashing(forward: Responder) -> Responder:
    """Return a server on which the worker of every second item of a batch crashes at first."""
    crashed: set[bytes] = set()
    info = AnyMessage()
    info.Pack(ErrorInfo(reason="WORKER_CRASHED", domain="sidecheck"))
    unavailable = grpc.StatusCode.UNAVAILABLE.value[0]
    error = Status(code=unavailable, message="the worker crashed", details=[info])

    async def respond(path: str, request: bytes, context: Any) -> list[bytes] | None:
        responses = await forward(path, request, context)
        if path not in _BATCHES or responses is None:
            return responses
        request_class, response_class = _BATCHES[path]
        response = response_class.FromString(responses[0])
        for index, item in enumerate(request_class.FromString(request).items):
            text = item.SerializeToString()
            if text in crashed:
                crashed.remove(text)
            elif index % 2:
                crashed.add(text)
                response.outcomes[index].error.CopyFrom(error)
        return [response.SerializeToString()]

    return respond


def _stream_responders(forward: Responder) -> dict[str, Responder]:
    """Return servers that break streams after the first response."""

    def in_stream(fault: _Fault) -> Responder:
        """Respond to item "0" of a stream with a verdict, to item "2" with *fault*."""

        async def respond(path: str, request: bytes, context: Any) -> list[bytes] | None:
            if path != _STREAM:
                return await forward(path, request, context)
            message = validation_pb.ValidateStreamRequest.FromString(request)
            if message.WhichOneof("message") == "defaults":
                return []
            match message.item.id:
                case "0":
                    return [_stream_response("0")]
                case "2":
                    # All items have been sent, so the client knows of all.
                    return await fault(path, request, context)
            return []

        return respond

    async def end(_path: str, _request: bytes, _context: Any) -> list[bytes] | None:
        return None

    async def misname(_path: str, _request: bytes, _context: Any) -> list[bytes] | None:
        return [_stream_response("another")]

    async def lose(_path: str, _request: bytes, context: Any) -> list[bytes] | None:
        await context.abort(grpc.StatusCode.UNAVAILABLE, "connection reset")
        return None

    return {
        "stream_ends": in_stream(end),
        "stream_out_of_order": in_stream(misname),
        "stream_lost": in_stream(lose),
    }


def _always(responses: list[bytes] | None) -> Responder:
    async def respond(_path: str, _request: bytes, _context: Any) -> list[bytes] | None:
        return responses

    return respond


def _aborting(code: grpc.StatusCode, message: str) -> Responder:
    async def respond(_path: str, _request: bytes, context: Any) -> list[bytes] | None:
        await context.abort(code, message)
        return None

    return respond


def _failing_with(code: grpc.StatusCode, reason: str, seconds: float = 0) -> Responder:
    """Abort every call with a reason of Sidecheck, and with a time to retry after if given."""
    info, retry = AnyMessage(), AnyMessage()
    info.Pack(ErrorInfo(reason=reason, domain="sidecheck", metadata={"limit": "1"}))
    retry.Pack(RetryInfo(retry_delay=Duration(nanos=int(seconds % 1 * 1e9), seconds=int(seconds))))
    details = [info, retry] if seconds else [info]
    status = Status(code=code.value[0], message="try again later", details=details)

    async def respond(_path: str, _request: bytes, context: Any) -> list[bytes] | None:
        trailers = ((_DETAILS, status.SerializeToString()),)
        await context.abort(code, status.message, trailers)
        return None

    return respond


def _stream_response(id_: str) -> bytes:
    verdict = verdict_pb2.Verdict(valid=True, enforced=True)
    return validation_pb.ValidateStreamResponse(
        id=id_, outcome=validation_pb.ValidateOutcome(verdict=verdict)
    ).SerializeToString()
