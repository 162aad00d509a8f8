"""What every method does around its own work: refusals, faults, cancellations, the log."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck.v1 import info_service_pb2, target_pb2, validation_service_pb2
from sidecheck.v1.info_service_pb2_grpc import (
    InfoServiceServicer,
    InfoServiceStub,
    add_InfoServiceServicer_to_server,
)
from sidecheck.v1.validation_service_pb2_grpc import (
    ValidationServiceStub,
    add_ValidationServiceServicer_to_server,
)
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry import RegistryUnusable
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import STATUS_CODES
from sidecheck_server.rpc.streams import Streams
from sidecheck_server.rpc.validation import ValidationServicer
from sidecheck_server.services.calls import ToolCalls
from sidecheck_server.services.validation import ResolvedSchema
from structlog.testing import capture_logs
from support.compiling import compiled
from support.wire import info_of

SECRET = "hunter2"
INFO = info_service_pb2.GetServerInfoRequest()
Work = Callable[[], Any]


@pytest.fixture(autouse=True)
def _every_event_is_wanted() -> Iterator[None]:
    log = logging.getLogger("sidecheck")
    before = log.level
    log.setLevel(logging.DEBUG)
    yield
    log.setLevel(before)


class Servicer(InfoServiceServicer):
    """Answers as *work* does."""

    def __init__(self, work: Work) -> None:
        self.door = ShutdownGate()
        self.work = work

    @rpc_handler
    async def GetServerInfo(self, _request: Any) -> Any:  # noqa: N802
        return await self.work()


class Judge:
    """Judges anything under the first digest, and fails with *failure* at any other."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure

    async def find(self, target: Any, _side: Any, *, assert_formats: bool) -> ResolvedSchema:
        if target.digest != "sha256:1":
            raise self.failure
        return ResolvedSchema(compiled(True, assert_formats=assert_formats))


@asynccontextmanager
async def serving(add: Callable[[Any], None]) -> AsyncIterator[grpc.aio.Channel]:
    server = grpc.aio.server()
    add(server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(None)


@asynccontextmanager
async def calling(work: Work) -> AsyncIterator[Any]:
    """Serve *work* and yield the call that does it."""
    async with serving(lambda it: add_InfoServiceServicer_to_server(Servicer(work), it)) as channel:
        stub: Any = InfoServiceStub(channel)
        yield stub.GetServerInfo


async def refused(work: Work) -> tuple[grpc.aio.AioRpcError, list[dict[str, Any]]]:
    """Return how a call of *work* is refused, and what is logged."""
    with capture_logs() as log:
        async with calling(work) as call:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await call(INFO)
    return caught.value, [dict(event) for event in log]


def raising(failure: BaseException) -> Work:
    async def work() -> None:
        await asyncio.sleep(0)
        raise failure

    return work


def chained() -> BaseException:
    """An error with a secret in every place that an exception has for text."""
    error = RuntimeError(SECRET)
    error.add_note(SECRET)
    error.__cause__ = ValueError(SECRET)
    error.__context__ = KeyError(SECRET)
    return error


FAILURES = [
    pytest.param(ValueError(SECRET), "ValueError", id="an error with a text"),
    pytest.param(chained(), "RuntimeError", id="with a cause and a note"),
    pytest.param(KeyError(SECRET, {SECRET: SECRET}), "KeyError", id="with values"),
    pytest.param(ExceptionGroup(SECRET, [ValueError(SECRET)]), "ExceptionGroup", id="a group"),
    pytest.param(TimeoutError(SECRET), "TimeoutError", id="a timeout of our own"),
    pytest.param(UnicodeEncodeError("x", SECRET, 0, 1, SECRET), "UnicodeEncodeError", id="codec"),
]


def details_of(error: grpc.aio.AioRpcError) -> Status:
    """Return the status that is in the trailers, which says what the status of the call says."""
    trailers: dict[str, Any] = dict(error.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])
    assert (error.code().value[0], error.details()) == (status.code, status.message)
    return status


def seen(error: grpc.aio.AioRpcError) -> str:
    """Everything that a client sees of a refused call."""
    trailers = dict(error.trailing_metadata() or ())
    return f"{error.details()} {trailers} {error.debug_error_string()}"


@pytest.mark.parametrize(("failure", "kind"), FAILURES)
async def test_an_unexpected_error_is_internal_and_opaque(
    failure: BaseException, kind: str
) -> None:
    """It leaves an id, which the log has too, and none of its text in either."""
    error, log = await refused(raising(failure))
    [event] = log
    info = info_of(details_of(error))
    id_ = info.metadata["error_id"]

    assert (grpc.StatusCode.INTERNAL, "INTERNAL") == (error.code(), info.reason)
    assert f"an internal error; the server's log has it under {id_}" == error.details()
    assert {
        "event": "rpc.failed",
        "log_level": "error",
        "method": "GetServerInfo",
        "error_id": id_,
        "error_type": kind,
        "frames": event["frames"],
    } == event
    assert __file__ == event["frames"][-1].rpartition(":")[0]
    assert [] == [text for text in (seen(error), str(log)) if SECRET in text]


async def test_a_registry_that_cannot_be_written_tells_the_log_why() -> None:
    """Its words are for the operator, and do not reach the client."""
    error, [event] = await refused(raising(RegistryUnusable("tools.db cannot grow; make room")))

    assert (grpc.StatusCode.INTERNAL, "tools.db cannot grow; make room") == (
        error.code(),
        event["said"],
    )
    assert "tools.db" not in seen(error)


async def test_every_error_has_an_id_of_its_own() -> None:
    """Of 64 bits."""
    got = [(await refused(raising(ValueError())))[0] for _ in range(3)]
    ids = {info_of(details_of(error)).metadata["error_id"] for error in got}

    assert [16, 16, 16] == [len(id_) for id_ in ids]


@pytest.mark.parametrize("reason", ErrorReason)
async def test_a_refusal_is_its_status_and_is_logged_by_its_reason(reason: ErrorReason) -> None:
    """Its text is the caller's alone."""
    refusal = RequestError(reason, f"about {SECRET}", {"name": SECRET})
    error, [event] = await refused(raising(refusal))
    info = info_of(details_of(error))

    assert (STATUS_CODES[reason], f"about {SECRET}") == (error.code(), error.details())
    assert (reason.value, {"name": SECRET}) == (info.reason, dict(info.metadata))
    assert {
        "event": "rpc.refused",
        "log_level": "info",
        "method": "GetServerInfo",
        "reason": reason.value,
        "ms": event["ms"],
    } == event


@pytest.mark.parametrize(
    "character", ["x", "統", "\n", "\x00", "\U0001f600", "\ud800"], ids=lambda one: f"{ord(one):x}"
)
async def test_a_refusal_travels_whole_whatever_its_text(character: str) -> None:
    """gRPC refuses trailers beyond 8 KiB, and would answer RESOURCE_EXHAUSTED of its own."""
    text = character * 9999
    error, _ = await refused(
        raising(
            RequestError(
                ErrorReason.UNKNOWN_TOOL, text, {"server": text, "tool": text, "near": text}
            )
        )
    )
    status = details_of(error)
    # Percent-encoded (gRPC over HTTP2, Status-Message), and in base64 (Binary-Header).
    message = sum(1 if 0x20 <= byte <= 0x7E else 3 for byte in status.message.encode())
    trailers = message + status.ByteSize() * 4 // 3

    assert "UNKNOWN_TOOL" == info_of(status).reason
    assert trailers + len("grpc-status-details-bin") * 4 < 8192


async def test_a_call_that_is_cancelled_is_cancelled_inside() -> None:
    """It is no error, and nothing is said of it."""
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    with capture_logs() as log:
        async with calling(work) as call:
            under_way = call(INFO)
            await begun.wait()
            under_way.cancel()
            await asyncio.wait_for(cancelled.wait(), 120)
            with pytest.raises(asyncio.CancelledError):
                await under_way

    assert [] == log


async def test_an_answer_is_one_event() -> None:
    """With its method and its time."""

    async def work() -> Any:
        return info_service_pb2.GetServerInfoResponse(version="1")

    with capture_logs() as log:
        async with calling(work) as call:
            response = await call(INFO)
    [event] = log

    assert "1" == response.version
    assert {
        "event": "rpc.answered",
        "log_level": "debug",
        "method": "GetServerInfo",
        "ms": event["ms"],
    } == event
    assert 0 <= event["ms"] < 5000


async def batch(failure: BaseException, *digests: str) -> tuple[Any, list[dict[str, Any]]]:
    """Return the answer to a batch under schemas of *digests*, and what is logged."""
    registry = open_registry(None)
    judge: Any = Judge(failure)
    calls = ToolCalls(judge, judge, Limits())
    servicer = ValidationServicer(judge, calls, registry, Limits(), ShutdownGate(), Streams())
    request = validation_service_pb2.ValidateBatchRequest(
        items=[
            validation_service_pb2.ValidateItem(
                target=target_pb2.Target(schema_digest=digest),
                subject=target_pb2.Subject(arguments=b"1"),
            )
            for digest in digests
        ],
    )
    with capture_logs() as log:
        async with serving(
            lambda server: add_ValidationServiceServicer_to_server(servicer, server)
        ) as channel:
            stub: Any = ValidationServiceStub(channel)
            response = await stub.ValidateBatch(request)
    registry.close()
    return response, [dict(event) for event in log]


@pytest.mark.parametrize(("failure", "kind"), FAILURES)
async def test_an_unexpected_error_costs_only_its_item(failure: BaseException, kind: str) -> None:
    """Each has an id of its own, and none of its text is told."""
    response, log = await batch(failure, "sha256:1", "sha256:2", "sha256:1", "sha256:3")
    outcomes = [one.WhichOneof("outcome") for one in response.outcomes]
    failed = [response.outcomes[1].refusal, response.outcomes[3].refusal]
    ids = [info_of(status).metadata["error_id"] for status in failed]

    assert ["verdict", "refusal", "verdict", "refusal"] == outcomes
    assert [grpc.StatusCode.INTERNAL.value[0]] * 2 == [status.code for status in failed]
    assert [*((kind, id_, "ValidateBatch") for id_ in ids), (None, None, "ValidateBatch")] == [
        (event.get("error_type"), event.get("error_id"), event["method"]) for event in log
    ]
    assert ids[0] != ids[1]
    assert (4, 0, 2) == tuple(log[-1][fact] for fact in ("items", "invalid", "refused"))
    assert [] == [text for text in (str(response), json.dumps(log)) if SECRET in text]
