"""Answers that are not a Sidecheck server's: all of them mean that it is unavailable."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from sidecheck import (
    Arguments,
    Item,
    ModelApi,
    Sampling,
    Schema,
    SidecheckError,
    Unavailable,
)
from sidecheck.v1.info_service_pb2 import GetServerInfoResponse, Limits
from sidecheck.v1.validation_service_pb2 import (
    ValidateBatchResponse,
    ValidateOutcome,
    ValidateStreamRequest,
)
from support.clients import CLIENT_KINDS, connect
from support.raw_servers import (
    go_away,
    http_answer,
    reset,
    serving_bytes,
    serving_frames,
    serving_messages,
)
from support.stream_readers import collect, items, read

CODES = grpc.StatusCode
INFO = "/sidecheck.v1.InfoService/GetServerInfo"
LIMITS = Limits(message_bytes=1_000_000, batch_items=100)

Server = Callable[[], AbstractContextManager[str]]


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of client."""
    return str(request.param)


@pytest.mark.parametrize(
    ("expected", "text", "server"),
    [
        *(
            pytest.param(
                code, f"HTTP status {status}, not with gRPC",
                lambda s=status: serving_frames(http_answer(s)), id=f"HTTP {status}",
            )
            for status, code in {
                204: "UNKNOWN",
                301: "UNKNOWN",
                400: "INTERNAL",
                401: "UNAUTHENTICATED",
                403: "PERMISSION_DENIED",
                404: "UNIMPLEMENTED",
                429: "UNAVAILABLE",
                500: "UNKNOWN",
                502: "UNAVAILABLE",
                503: "UNAVAILABLE",
                504: "UNAVAILABLE",
            }.items()
        ),
        pytest.param(
            "UNKNOWN", "END_STREAM|Stream removed",
            lambda: serving_frames(http_answer(200)), id="HTTP 200",
        ),
        *(
            pytest.param(
                code, f"RST_STREAM with error code {number}",
                lambda n=number: serving_frames(reset(n)), id=f"RST_STREAM {name}",
            )
            for name, number, code in (
                ("NO_ERROR", 0, "INTERNAL"),
                ("INTERNAL_ERROR", 2, "INTERNAL"),
                ("CANCEL", 8, "CANCELLED"),
                ("ENHANCE_YOUR_CALM", 11, "RESOURCE_EXHAUSTED"),
                ("INADEQUATE_SECURITY", 12, "PERMISSION_DENIED"),
            )
        ),
        pytest.param("UNAVAILABLE", "GOAWAY", lambda: serving_frames(go_away(11)), id="GOAWAY"),
        pytest.param(
            "UNKNOWN", "HTTP/2|Stream removed",
            lambda: serving_frames(lambda _: b"\xff" * 64), id="no frame",
        ),
        pytest.param(
            "UNAVAILABLE", "does not speak HTTP/2",
            lambda: serving_bytes(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
            id="HTTP/1.1",
        ),
        pytest.param(
            "UNAVAILABLE", "closed the connection: if it speaks TLS",
            lambda: serving_bytes(b""), id="closed",
        ),
    ],
)  # fmt: skip
async def test_an_answer_of_another_program_is_unavailable(
    kind: str, expected: str, text: str, server: Server
) -> None:
    """The policy applies, and the reason and the message say what came.

    Where the client does not know the cause, the words are those of gRPC, which differ between
    its releases.
    """
    with server() as address:
        async with connect(kind, address, timeout=120) as client:
            with pytest.raises(Unavailable, match=text) as raised:
                await client.validate(Schema(b"true"), {})
        async with connect(kind, address, timeout=120, on_unavailable="deny") as client:
            verdict = await client.validate(Schema(b"true"), {})
    assert expected == raised.value.reason == raised.value.status.name
    assert [False, "SIDECHECK_UNAVAILABLE"] == [verdict.valid, verdict.violations[0].code]
    assert f"not validated: {expected}" in verdict.violations[0].message


async def test_a_call_that_is_refused_is_sent_again(kind: str) -> None:
    """It is retried until its deadline, more often than UNAVAILABLE."""
    refused: list[int] = []

    def answer(stream: int) -> bytes:
        if len(refused) == 12:
            return http_answer(404)(stream)
        refused.append(stream)
        return reset(7)(stream)

    with serving_frames(answer) as address:
        async with connect(kind, address, timeout=120) as client:
            with pytest.raises(Unavailable, match="UNIMPLEMENTED"):
                await client.validate(Schema(b"true"), {})
    assert len(refused) == 12


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
async def test_a_call_without_time_is_an_error_of_the_caller(kind: str, seconds: float) -> None:
    """The policy would let each payload pass otherwise, or reject it."""
    async with connect(kind, "127.0.0.1:1", on_unavailable="allow") as client:
        with pytest.raises(ValueError, match="timeout must be positive"):
            await client.validate(Schema(b"true"), {}, timeout=seconds)


async def test_a_call_that_is_always_refused_ends_at_its_deadline(kind: str) -> None:
    """The reason is that of the last refusal, or of the deadline."""
    with serving_frames(reset(7)) as address:
        async with connect(kind, address, timeout=0.5) as client:
            with pytest.raises(Unavailable, match=r"UNAVAILABLE|DEADLINE_EXCEEDED"):
                await client.validate(Schema(b"true"), {})


@pytest.mark.parametrize("size", [(1 << 20) + 1, 5 << 20])
async def test_an_oversized_message_is_not_an_outage(kind: str, size: int) -> None:
    """The author of a payload controls its size, so the policy must not admit it."""
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", 1 << 20)])
    port = server.add_insecure_port("127.0.0.1:0")
    method: Any = grpc.unary_unary_rpc_method_handler(lambda request, context: b"")
    service = "sidecheck.v1.ValidationService"
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(service, {"Validate": method})]
    )
    await server.start()
    async with connect(kind, f"127.0.0.1:{port}", timeout=120, on_unavailable="allow") as client:
        with pytest.raises(SidecheckError, match="larger than max") as raised:
            await client.validate(Schema(b"true"), b'"%s"' % (b"x" * size))
    await server.stop(None)
    assert (SidecheckError, "LIMIT_EXCEEDED") == (type(raised.value), raised.value.reason)


async def test_status_413_of_a_proxy_is_not_an_outage(kind: str) -> None:
    """HTTP status 413 is a limit as well."""
    with serving_frames(http_answer(413)) as address:
        async with connect(kind, address, timeout=120, on_unavailable="allow") as client:
            with pytest.raises(SidecheckError) as raised:
                await client.validate(Schema(b"true"), {})
    assert (SidecheckError, "LIMIT_EXCEEDED") == (type(raised.value), raised.value.reason)


async def cancel(path: str, request: bytes, context: Any) -> list[bytes]:
    """Answer as the queue of a server's gRPC that is full, except for the limits."""
    if path == INFO:
        return [GetServerInfoResponse(limits=LIMITS).SerializeToString()]
    await context.abort(CODES.CANCELLED, "")
    raise AssertionError


def first_validity(outcomes: Any) -> tuple[bool, str]:
    """Return whether the only result is valid, and the code of its first violation."""
    result = outcomes[0] if isinstance(outcomes, list) else outcomes
    verdict: Any = getattr(result, "verdict", result)
    return verdict.valid, verdict.violations[0].code


def raise_first(outcomes: Any) -> None:
    """Raise the error that is the first outcome of a batch."""
    raise outcomes[0]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda c: c.validate(Schema(b"true"), 1), id="validate"),
        pytest.param(lambda c: c.validate_call_result(Schema(b"true"), {}), id="call result"),
        pytest.param(lambda c: c.validate_batch([Item(Arguments(1))]), id="validate_batch"),
        pytest.param(lambda c: c.protocol.check_message(b"{}"), id="check_message"),
        pytest.param(lambda c: c.protocol.check_sampling(b"{}"), id="check_sampling"),
        pytest.param(lambda c: c.protocol.check_batch([Sampling(b"{}")]), id="check_batch"),
    ],
)
async def test_a_dropped_call_has_the_verdict_of_the_policy(
    kind: str, call: Callable[[Any], Any]
) -> None:
    """CANCELLED that the caller did not cause is as good as no answer."""
    async with serving_messages(cancel) as address:
        async with connect(kind, address, timeout=120, on_unavailable="deny") as client:
            denied = first_validity(await call(client))
        async with connect(kind, address, timeout=120) as client:
            with pytest.raises(Unavailable, match="CANCELLED: the status has no message"):
                raise_first(await call(client))
    assert (False, "SIDECHECK_UNAVAILABLE") == denied


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda c: c.register("s", {"name": "n"}), id="register"),
        pytest.param(lambda c: c.get("s", "n"), id="get"),
        pytest.param(lambda c: c.delete_all("s"), id="delete_all"),
        pytest.param(lambda c: c.protocol.check_names(["n"]), id="check_names"),
        pytest.param(lambda c: c.protocol.check_tools(definitions=[{}]), id="check_tools"),
        pytest.param(lambda c: c.protocol.normalize_tool_result(1), id="normalize_tool_result"),
        pytest.param(
            lambda c: c.conversion.convert_tools(ModelApi.ANTHROPIC, [{}]), id="convert_tools"
        ),
        pytest.param(lambda c: c.inference.infer_tools("def f(): ..."), id="infer_tools"),
    ],
)
async def test_a_dropped_call_without_a_verdict_is_raised(
    kind: str, call: Callable[[Any], Any]
) -> None:
    """No policy can make up a result."""
    async with (
        serving_messages(cancel) as address,
        connect(kind, address, timeout=120, on_unavailable="allow") as client,
    ):
        with pytest.raises(Unavailable, match="CANCELLED"):
            await call(client)


async def test_a_dropped_stream_is_unavailable(kind: str) -> None:
    """The items have no response, so the caller can send them again."""

    async def cancel_at_last(path: str, request: bytes, context: Any) -> list[bytes]:
        if path != INFO and ValidateStreamRequest.FromString(request).item.id != "1":
            return []
        return await cancel(path, request, context)

    async with serving_messages(cancel_at_last) as address:
        with pytest.raises(Unavailable, match="CANCELLED") as raised:
            await collect(read(kind, address, items(1, 2)), [])
    assert ("0", "1") == getattr(raised.value, "unanswered", None)


def overloaded() -> Status:
    """Return the status of a server that sheds the request."""
    details: list[Message] = [
        ErrorInfo(reason="OVERLOADED", domain="sidecheck"),
        RetryInfo(retry_delay=Duration(nanos=500_000_000)),
    ]
    status = Status(code=CODES.RESOURCE_EXHAUSTED.value[0], message="busy")
    for detail in details:
        packed = AnyMessage()
        packed.Pack(detail)
        status.details.append(packed)
    return status


async def test_an_overloaded_server_sends_a_retry_delay(kind: str) -> None:
    """The client does not retry, which would add load."""
    attempts = 0

    async def shed(path: str, request: bytes, context: Any) -> list[bytes]:
        nonlocal attempts
        attempts += 1
        trailers = (("grpc-status-details-bin", overloaded().SerializeToString()),)
        await context.abort(CODES.RESOURCE_EXHAUSTED, "busy", trailers)
        raise AssertionError

    async with serving_messages(shed) as address:
        async with connect(kind, address, timeout=120) as client:
            with pytest.raises(Unavailable) as raised:
                await client.validate(Schema(b"true"), {})
        async with connect(kind, address, timeout=120, on_unavailable="allow") as client:
            verdict = await client.validate(Schema(b"true"), {})
    assert Unavailable("OVERLOADED", "busy", {}, CODES.RESOURCE_EXHAUSTED, 0.5) == raised.value
    assert (True, 2) == (verdict.valid, attempts)


@pytest.mark.parametrize(
    ("expected", "policy"),
    [
        ((True, "SIDECHECK_UNAVAILABLE"), "allow"),
        ((False, "SIDECHECK_UNAVAILABLE"), "deny"),
        (Unavailable("OVERLOADED", "busy", {}, CODES.RESOURCE_EXHAUSTED, 0.5), "error"),
    ],
)
async def test_items_that_a_server_sheds_follow_the_policy(
    kind: str, expected: object, policy: str
) -> None:
    """Without a policy the outcome of the item is the error."""

    async def shed(path: str, request: bytes, context: Any) -> list[bytes]:
        if path == INFO:
            return [GetServerInfoResponse(limits=LIMITS).SerializeToString()]
        outcome = ValidateOutcome(error=overloaded())
        return [ValidateBatchResponse(outcomes=[outcome]).SerializeToString()]

    async with (
        serving_messages(shed) as address,
        connect(kind, address, timeout=120, on_unavailable=policy) as client,
    ):
        outcomes = await client.validate_batch([Item(Arguments(1))])
    (outcome,) = outcomes
    validity = outcome if policy == "error" else first_validity(outcome)
    assert expected == validity
