"""Transport of the Python client: deadlines, retries, errors and unavailable servers."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import grpc.aio
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from sidecheck import Arguments, Item, RegisteredTool, SidecheckError, Unavailable, Verdict
from sidecheck._transport.channels import service_config
from sidecheck.v1.info_service_pb2 import GetServerInfoRequest, GetServerInfoResponse, Limits
from sidecheck.v1.validation_service_pb2 import ValidateRequest, ValidateResponse
from sidecheck.v1.verdict_pb2 import Verdict as VerdictMessage
from sidecheck.wire.rpcs import Rpc, find_rpc
from support.clients import CLIENT_KINDS, connect

TOOL = RegisteredTool("weather", "get_forecast")
YES = ValidateResponse(verdict=VerdictMessage(valid=True, enforced=True), registry_revision=3)
EXPECTED = Verdict(valid=True, registry_revision=3)

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
#: The RPC that validates a single payload.
VALIDATE = find_rpc(ValidateRequest)

Handler: TypeAlias = Callable[[Any, Context], Awaitable[Any]]


@asynccontextmanager
async def serving(
    handler: Handler, rpc: Rpc = VALIDATE, address: str = "127.0.0.1:0"
) -> AsyncIterator[str]:
    """Serve one method with *handler* and yield the address."""
    rpc_handler = grpc.unary_unary_rpc_method_handler(
        handler, rpc.request.FromString, rpc.response.SerializeToString
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(rpc.service, {rpc.name: rpc_handler})]
    )
    port = server.add_insecure_port(address)
    await server.start()
    try:
        yield address if address.startswith("unix:") else f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@pytest.fixture(params=CLIENT_KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Return a kind of client."""
    return str(request.param)


@pytest.fixture
def closed_port() -> str:
    """Return an address without a server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize(
    ("expected", "call_timeout"),
    [
        pytest.param(2.0, None, id="two seconds by default"),
        pytest.param(30.0, 30.0, id="timeout of the call"),
    ],
)
async def test_the_deadline_is_sent_to_the_server(
    kind: str, expected: float, call_timeout: float | None
) -> None:
    """The server gets the deadline, so that it can stop too."""
    remaining: list[float] = []

    async def handler(request: Any, context: Context) -> ValidateResponse:
        remaining.append(context.time_remaining() or 0.0)
        return YES

    async with serving(handler) as address, connect(kind, address) as client:
        assert await client.validate(TOOL, {}, timeout=call_timeout) == EXPECTED
    assert len(remaining) == 1
    # The difference is the time that the call took to arrive.
    assert expected - 1.9 < remaining[0] < expected + 0.1


async def test_the_deadline_ends_a_call(kind: str) -> None:
    """The server never responds."""

    async def never(request: Any, context: Context) -> ValidateResponse:
        await asyncio.sleep(600)
        return YES

    async with serving(never) as address, connect(kind, address) as client:
        with pytest.raises(Unavailable) as raised:
            await client.validate(TOOL, {}, timeout=1.2)
    assert grpc.StatusCode.DEADLINE_EXCEEDED is raised.value.status


def test_the_service_config_sets_no_timeout() -> None:
    """The C core of gRPC fires such a timeout up to 1.5 s early."""
    methods = service_config("127.0.0.1:50051")["methodConfig"]

    assert methods
    assert [] == [method for method in methods if "timeout" in method]


@pytest.mark.parametrize(
    ("expected", "code", "failures"),
    [
        pytest.param(3, grpc.StatusCode.UNAVAILABLE, 2, id="UNAVAILABLE twice, then a response"),
        pytest.param(5, grpc.StatusCode.UNAVAILABLE, 9, id="UNAVAILABLE always"),
        pytest.param(1, grpc.StatusCode.INTERNAL, 9, id="INTERNAL"),
        pytest.param(1, grpc.StatusCode.RESOURCE_EXHAUSTED, 9, id="RESOURCE_EXHAUSTED"),
    ],
)
async def test_only_unavailable_is_retried(
    kind: str, expected: int, code: grpc.StatusCode, failures: int
) -> None:
    """There are at most three retries."""
    attempts = 0

    async def handler(request: Any, context: Context) -> ValidateResponse:
        nonlocal attempts
        attempts += 1
        if attempts <= failures:
            await context.abort(code, "not now")
        return YES

    async with serving(handler) as address, connect(kind, address) as client:
        if expected > failures:
            assert await client.validate(TOOL, {}) == EXPECTED
        else:
            with pytest.raises(SidecheckError, match=f"{code.name}: not now"):
                await client.validate(TOOL, {})
    assert expected == attempts


def failing_handler(reason: str, code: grpc.StatusCode) -> Handler:
    """Return a handler that fails with *reason* and *code*."""
    detail = AnyMessage()
    detail.Pack(ErrorInfo(reason=reason, domain="sidecheck", metadata={"name": "n"}))
    status = Status(code=code.value[0], message="no", details=[detail])

    async def handler(request: Any, context: Context) -> ValidateResponse:
        trailing = (("grpc-status-details-bin", status.SerializeToString()),)
        await context.abort(code, "no", trailing)
        raise AssertionError

    return handler


async def test_errors_have_the_reason_of_the_server(kind: str) -> None:
    """An error is raised with its reason under every policy."""
    expected = SidecheckError("UNKNOWN_TOOL", "no", {"name": "n"}, grpc.StatusCode.NOT_FOUND)
    handler = failing_handler("UNKNOWN_TOOL", grpc.StatusCode.NOT_FOUND)
    async with (
        serving(handler) as address,
        connect(kind, address, on_unavailable="allow") as client,
    ):
        with pytest.raises(SidecheckError) as raised:
            await client.validate(TOOL, {})
    assert expected == raised.value


async def test_a_server_that_shuts_down_is_unavailable(kind: str) -> None:
    """SHUTTING_DOWN applies the policy for unavailable servers."""
    handler = failing_handler("SHUTTING_DOWN", grpc.StatusCode.UNAVAILABLE)
    async with (
        serving(handler) as address,
        connect(kind, address, on_unavailable="allow") as client,
    ):
        verdict = await client.validate(TOOL, {})
    assert [True, ["SIDECHECK_UNAVAILABLE"]] == [
        verdict.valid,
        [violation.code for violation in verdict.violations],
    ]


@pytest.mark.parametrize(("expected", "policy"), [(True, "allow"), (False, "deny")])
async def test_the_policy_applies_while_no_server_responds(
    kind: str, closed_port: str, expected: bool, policy: str
) -> None:
    """The policy applies to single payloads and batches."""
    async with connect(kind, closed_port, on_unavailable=policy) as client:
        verdicts = [
            await client.validate(TOOL, {}),
            *await client.validate_batch([Item(Arguments({}))] * 2, target=TOOL),
        ]
    assert [(expected, "SIDECHECK_UNAVAILABLE")] * 3 == [
        (verdict.valid, verdict.violations[0].code)
        for verdict in verdicts
        if isinstance(verdict, Verdict)
    ]


async def test_no_server_is_raised_by_default(kind: str, closed_port: str) -> None:
    """`Unavailable` is raised after the retries."""
    async with connect(kind, closed_port) as client:
        with pytest.raises(Unavailable) as raised:
            await client.validate(TOOL, {})
        with pytest.raises(Unavailable):
            await client.info()
    assert grpc.StatusCode.UNAVAILABLE is raised.value.status


async def test_proxies_are_not_used(
    kind: str, closed_port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Payloads must not pass through the ``http_proxy``."""
    monkeypatch.setenv("http_proxy", f"http://{closed_port}")
    monkeypatch.setenv("grpc_proxy", f"http://{closed_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("no_grpc_proxy", raising=False)

    async def handler(request: Any, context: Context) -> ValidateResponse:
        return YES

    async with serving(handler) as address, connect(kind, address) as client:
        assert await client.validate(TOOL, {}) == EXPECTED


async def test_unix_sockets_are_valid_addresses(kind: str, tmp_path: Path) -> None:
    """A sidecar can be reached without a port."""

    async def handler(request: Any, context: Context) -> ValidateResponse:
        return YES

    async with (
        serving(handler, address=f"unix:{tmp_path}/s") as address,
        connect(kind, address) as client,
    ):
        assert await client.validate(TOOL, {}) == EXPECTED


async def test_responses_may_exceed_the_default_limit_of_grpc(kind: str) -> None:
    """The server limits requests, not responses; gRPC's default is 4 MiB."""
    version = "x" * (5 << 20)

    async def handler(request: Any, context: Context) -> GetServerInfoResponse:
        return GetServerInfoResponse(version=version, limits=Limits())

    async with (
        serving(handler, find_rpc(GetServerInfoRequest)) as address,
        connect(kind, address) as client,
    ):
        info = await client.info(timeout=120)
    assert len(version) == len(info.version)


async def test_an_abandoned_call_is_cancelled() -> None:
    """The server is notified at once and not at the deadline."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def handler(request: Any, context: Context) -> ValidateResponse:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return YES

    async with serving(handler) as address, connect("asynchronous", address) as client:
        task = asyncio.create_task(client.validate(TOOL, {}, timeout=300))
        await asyncio.wait_for(begun.wait(), 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 120)


def test_a_client_can_be_made_before_any_loop_runs(closed_port: str) -> None:
    """The channel belongs to the loop of the first call."""
    client = connect("asynchronous", closed_port, on_unavailable="deny")

    async def validate() -> Verdict:
        async with client:
            return await client.validate(TOOL, {})

    assert not asyncio.run(validate()).valid
