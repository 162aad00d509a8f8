"""Handlers: request errors, internal errors, cancellation, the access log."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.rpc.status_pb2 import Status
from sidecheck.v1 import info_service_pb2, target_pb2, validation_service_pb2
from sidecheck.v1.info_service_pb2_grpc import InfoServiceServicer, InfoServiceStub
from sidecheck.v1.validation_service_pb2_grpc import ValidationServiceStub
from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.grpc_methods import add_methods
from sidecheck_server.rpc.handler import rpc_handler
from sidecheck_server.rpc.method_table import methods_of
from sidecheck_server.rpc.shutdown_gate import ShutdownGate
from sidecheck_server.rpc.status import STATUS_CODES
from sidecheck_server.rpc.streams import OpenStreams
from sidecheck_server.rpc.validation import ValidationServicer
from sidecheck_server.services.prepared_targets import PreparedTargets
from sidecheck_server.services.resolution import ResolvedSchema
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.validation import Validator
from structlog.testing import capture_logs
from support.checkers import run_in_process
from support.compiling import compile_value
from support.wire import info_of

SECRET = "hunter2"
INFO = info_service_pb2.GetServerInfoRequest()
Work = Callable[[], Any]
_INFO = info_service_pb2.DESCRIPTOR.services_by_name["InfoService"]
_VALIDATION = validation_service_pb2.DESCRIPTOR.services_by_name["ValidationService"]


@pytest.fixture(autouse=True)
def _log_every_event() -> Iterator[None]:
    log = logging.getLogger("sidecheck")
    before = log.level
    log.setLevel(logging.DEBUG)
    yield
    log.setLevel(before)


class Servicer(InfoServiceServicer):
    """Servicer whose method runs *work*."""

    def __init__(self, work: Work) -> None:
        self.work = work

    @rpc_handler
    async def GetServerInfo(self, _request: Any) -> Any:  # noqa: N802
        return await self.work()


class Resolver:
    """Resolves the first digest and raises *failure* for any other."""

    def __init__(self, failure: BaseException) -> None:
        self.failure = failure

    def version_of(self, _target: Any, _named: str) -> str:
        return "2025-11-25"

    async def resolve_schema(
        self, target: Any, _side: Any, _version: str, *, assert_formats: bool
    ) -> ResolvedSchema:
        if target.digest != "sha256:1":
            raise self.failure
        compiled = compile_value(True, assert_formats=assert_formats)
        return ResolvedSchema(compiled, compiled.digest)


@asynccontextmanager
async def serving(service: Any, servicer: object) -> AsyncIterator[grpc.aio.Channel]:
    server = grpc.aio.server()
    methods = methods_of([(service, servicer)])
    add_methods(server, methods, Admission(TransportLimits()), CallMetrics(), Authorizer())
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(None)


@asynccontextmanager
async def calling(work: Work) -> AsyncIterator[Any]:
    """Serve *work* and yield the method that runs it."""
    async with serving(_INFO, Servicer(work)) as channel:
        stub: Any = InfoServiceStub(channel)
        yield stub.GetServerInfo


async def call_error(work: Work) -> tuple[grpc.aio.AioRpcError, list[dict[str, Any]]]:
    """Return the error of a call of *work* and the logged events."""
    with capture_logs() as log:
        async with calling(work) as call:
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await call(INFO)
    return raised.value, [dict(event) for event in log]


def raising(failure: BaseException) -> Work:
    async def work() -> None:
        await asyncio.sleep(0)
        raise failure

    return work


def chained_error() -> BaseException:
    """Return an error with a secret in every text that an exception can have."""
    error = RuntimeError(SECRET)
    error.add_note(SECRET)
    error.__cause__ = ValueError(SECRET)
    error.__context__ = KeyError(SECRET)
    return error


FAILURES = [
    pytest.param(ValueError(SECRET), "ValueError", id="an error with a text"),
    pytest.param(chained_error(), "RuntimeError", id="with a cause and a note"),
    pytest.param(KeyError(SECRET, {SECRET: SECRET}), "KeyError", id="with values"),
    pytest.param(ExceptionGroup(SECRET, [ValueError(SECRET)]), "ExceptionGroup", id="a group"),
    pytest.param(TimeoutError(SECRET), "TimeoutError", id="a timeout of our own"),
    pytest.param(UnicodeEncodeError("x", SECRET, 0, 1, SECRET), "UnicodeEncodeError", id="codec"),
]


def details_of(error: grpc.aio.AioRpcError) -> Status:
    """Return the status in the trailers, which matches code and details of the call."""
    trailers: dict[str, Any] = dict(error.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])
    assert (error.code().value[0], error.details()) == (status.code, status.message)
    return status


def client_view(error: grpc.aio.AioRpcError) -> str:
    """Return all text of a rejected call that a client can read."""
    trailers = dict(error.trailing_metadata() or ())
    return f"{error.details()} {trailers} {error.debug_error_string()}"


@pytest.mark.parametrize(("failure", "kind"), FAILURES)
async def test_an_unexpected_error_is_internal_and_opaque(
    failure: BaseException, kind: str
) -> None:
    """The response and the log share an error id and have no text of the error."""
    error, log = await call_error(raising(failure))
    [event] = log
    info = info_of(details_of(error))
    id_ = info.metadata["error_id"]

    assert (grpc.StatusCode.INTERNAL, "INTERNAL") == (error.code(), info.reason)
    assert f"internal error; see error_id {id_} in the server's log" == error.details()
    assert {
        "event": "rpc.failed",
        "log_level": "error",
        "method": "GetServerInfo",
        "error_id": id_,
        "error_type": kind,
        "frames": event["frames"],
    } == event
    assert __file__ == event["frames"][-1].rpartition(":")[0]
    assert [] == [text for text in (client_view(error), str(log)) if SECRET in text]


async def test_internal_errors_have_distinct_ids() -> None:
    """Error ids have 64 bits."""
    results = [(await call_error(raising(ValueError())))[0] for _ in range(3)]
    ids = {info_of(details_of(error)).metadata["error_id"] for error in results}

    assert [16, 16, 16] == [len(id_) for id_ in ids]


@pytest.mark.parametrize("reason", ErrorReason)
async def test_a_request_error_becomes_a_status(reason: ErrorReason) -> None:
    """The message is sent to the caller and not logged."""
    request_error = RequestError(reason, f"about {SECRET}", {"name": SECRET})
    error, [event] = await call_error(raising(request_error))
    info = info_of(details_of(error))

    assert (STATUS_CODES[reason], f"about {SECRET}") == (error.code(), error.details())
    assert (reason.value, {"name": SECRET}) == (info.reason, dict(info.metadata))
    assert {
        "event": "rpc.rejected",
        "log_level": "info",
        "method": "GetServerInfo",
        "reason": reason.value,
        "ms": event["ms"],
    } == event


@pytest.mark.parametrize(
    "character",
    ["x", "統", "\n", "\x00", "\U0001f600", "\ud800"],
    ids=lambda character: f"{ord(character):x}",
)
async def test_status_details_fit_into_trailers(character: str) -> None:
    """gRPC rejects trailers beyond 8 KiB with RESOURCE_EXHAUSTED."""
    text = character * 9999
    error, _ = await call_error(
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


async def test_cancellation_reaches_the_handler() -> None:
    """Cancellation is no error and is not logged."""
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


async def test_a_response_is_logged_as_one_event() -> None:
    """The event has the method and the duration."""

    async def work() -> Any:
        return info_service_pb2.GetServerInfoResponse(version="1")

    with capture_logs() as log:
        async with calling(work) as call:
            response = await call(INFO)
    [event] = log

    assert "1" == response.version
    assert {
        "event": "rpc.completed",
        "log_level": "debug",
        "method": "GetServerInfo",
        "ms": event["ms"],
    } == event
    assert 0 <= event["ms"] < 5000


async def batch(failure: BaseException, *digests: str) -> tuple[Any, list[dict[str, Any]]]:
    """Return the response to a batch with schemas of *digests*, and the logged events."""
    registry = open_registry(None)
    resolver: Any = Resolver(failure)
    unused: Any = None
    schemas = CompiledSchemas(run_in_process, Limits(), 0, 0)
    targets = PreparedTargets(resolver, Validator(run_in_process), unused, registry, schemas)
    streams = OpenStreams(ShutdownGate(), TransportLimits(), Counter())
    services: Any = SimpleNamespace(prepared_targets=targets, changes=unused)
    servicer = ValidationServicer(services, Limits(), streams)
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
        async with serving(_VALIDATION, servicer) as channel:
            stub: Any = ValidationServiceStub(channel)
            response = await stub.ValidateBatch(request)
    registry.close()
    return response, [dict(event) for event in log]


@pytest.mark.parametrize(("failure", "kind"), FAILURES)
async def test_an_unexpected_error_fails_only_its_item(failure: BaseException, kind: str) -> None:
    """Each failed item has an error id and no text of the error."""
    response, log = await batch(failure, "sha256:1", "sha256:2", "sha256:1", "sha256:3")
    outcomes = [outcome.WhichOneof("outcome") for outcome in response.outcomes]
    failed = [response.outcomes[1].error, response.outcomes[3].error]
    ids = [info_of(status).metadata["error_id"] for status in failed]

    assert ["verdict", "error", "verdict", "error"] == outcomes
    assert [grpc.StatusCode.INTERNAL.value[0]] * 2 == [status.code for status in failed]
    assert [*((kind, id_, "ValidateBatch") for id_ in ids), (None, None, "ValidateBatch")] == [
        (event.get("error_type"), event.get("error_id"), event["method"]) for event in log
    ]
    assert ids[0] != ids[1]
    assert (4, 0, 2) == tuple(log[-1][field] for field in ("items", "invalid", "errors"))
    assert [] == [text for text in (str(response), json.dumps(log)) if SECRET in text]
