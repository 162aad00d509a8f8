"""The Python client on the wire: deadlines, retries, refusals and absent servers."""

import asyncio
import socket
import time
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
from sidecheck.v1.info_service_pb2 import GetServerInfoResponse
from sidecheck.v1.validation_service_pb2 import ValidateResponse
from sidecheck.v1.verdict_pb2 import Verdict as VerdictMessage
from sidecheck.wire import rpcs
from support.clients import FACES, connect

TOOL = RegisteredTool("weather", "get_forecast")
YES = ValidateResponse(verdict=VerdictMessage(valid=True, enforced=True), registry_revision=3)
EXPECTED = Verdict(valid=True, registry_revision=3)

Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]
Answer: TypeAlias = Callable[[Any, Context], Awaitable[Any]]


@asynccontextmanager
async def serving(
    answer: Answer, rpc: rpcs.Rpc[Any, Any] = rpcs.VALIDATE, address: str = "127.0.0.1:0"
) -> AsyncIterator[str]:
    """Serve one procedure with *answer* and yield the address."""
    handler = grpc.unary_unary_rpc_method_handler(
        answer, rpc.request.FromString, rpc.response.SerializeToString
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(rpc.service, {rpc.name: handler})]
    )
    port = server.add_insecure_port(address)
    await server.start()
    try:
        yield address if address.startswith("unix:") else f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@pytest.fixture(params=FACES)
def face(request: pytest.FixtureRequest) -> str:
    """Return each face of the client in turn."""
    return str(request.param)


@pytest.fixture
def closed_port() -> str:
    """Return an address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param(2.0, None, id="two seconds by default"),
        pytest.param(30.0, 30.0, id="or what the call says"),
    ],
)
async def test_the_server_is_told_the_deadline(
    face: str, expected: float, given: float | None
) -> None:
    """It travels with the call, so that the server can stop too."""
    left: list[float] = []

    async def answer(request: Any, context: Context) -> ValidateResponse:
        left.append(context.time_remaining() or 0.0)
        return YES

    async with serving(answer) as address, connect(face, address) as client:
        assert await client.validate(TOOL, {}, timeout=given) == EXPECTED
    assert len(left) == 1
    # What is missing was spent on the way.
    assert expected - 1.9 < left[0] < expected + 0.1


async def test_the_deadline_ends_a_call_in_time(face: str) -> None:
    """Not before: the timeout of a service config would come up to 1.5 s early."""

    async def never(request: Any, context: Context) -> ValidateResponse:
        await asyncio.sleep(60)
        return YES

    async with serving(never) as address, connect(face, address) as client:
        begun = time.monotonic()
        with pytest.raises(Unavailable) as raised:
            await client.validate(TOOL, {}, timeout=1.2)
        taken = time.monotonic() - begun
    assert grpc.StatusCode.DEADLINE_EXCEEDED is raised.value.status
    assert 1.15 < taken < 50


@pytest.mark.parametrize(
    ("expected", "code", "failures"),
    [
        pytest.param(3, grpc.StatusCode.UNAVAILABLE, 2, id="UNAVAILABLE twice, then an answer"),
        pytest.param(4, grpc.StatusCode.UNAVAILABLE, 9, id="UNAVAILABLE for good"),
        pytest.param(1, grpc.StatusCode.INTERNAL, 9, id="INTERNAL"),
        pytest.param(1, grpc.StatusCode.RESOURCE_EXHAUSTED, 9, id="RESOURCE_EXHAUSTED"),
    ],
)
async def test_only_unavailable_is_tried_again(
    face: str, expected: int, code: grpc.StatusCode, failures: int
) -> None:
    """Three times at most."""
    attempts = 0

    async def answer(request: Any, context: Context) -> ValidateResponse:
        nonlocal attempts
        attempts += 1
        if attempts <= failures:
            await context.abort(code, "not now")
        return YES

    async with serving(answer) as address, connect(face, address) as client:
        if expected > failures:
            assert await client.validate(TOOL, {}) == EXPECTED
        else:
            with pytest.raises(SidecheckError, match=f"{code.name}: not now"):
                await client.validate(TOOL, {})
    assert expected == attempts


def refusing(reason: str, code: grpc.StatusCode) -> Answer:
    """Return a handler that refuses with *reason* under *code*."""
    detail = AnyMessage()
    detail.Pack(ErrorInfo(reason=reason, domain="sidecheck", metadata={"name": "n"}))
    status = Status(code=code.value[0], message="no", details=[detail])

    async def answer(request: Any, context: Context) -> ValidateResponse:
        trailing = (("grpc-status-details-bin", status.SerializeToString()),)
        await context.abort(code, "no", trailing)
        raise AssertionError

    return answer


async def test_reasons_cross_the_wire(face: str) -> None:
    """A refusal is raised with its reason, whatever *on_unavailable* says."""
    refusal = SidecheckError("UNKNOWN_TOOL", "no", {"name": "n"}, grpc.StatusCode.NOT_FOUND)
    answer = refusing("UNKNOWN_TOOL", grpc.StatusCode.NOT_FOUND)
    async with (
        serving(answer) as address,
        connect(face, address, on_unavailable="allow") as client,
    ):
        with pytest.raises(SidecheckError) as raised:
            await client.validate(TOOL, {})
    assert refusal == raised.value


async def test_a_server_that_goes_away_is_unavailable(face: str) -> None:
    """A draining server answers, but not the question."""
    answer = refusing("SHUTTING_DOWN", grpc.StatusCode.UNAVAILABLE)
    async with (
        serving(answer) as address,
        connect(face, address, on_unavailable="allow") as client,
    ):
        verdict = await client.validate(TOOL, {})
    assert [True, ["SIDECHECK_UNAVAILABLE"]] == [
        verdict.valid,
        [found.code for found in verdict.violations],
    ]


@pytest.mark.parametrize(("expected", "policy"), [(True, "allow"), (False, "deny")])
async def test_no_server_is_answered_by_policy(
    face: str, closed_port: str, expected: bool, policy: str
) -> None:
    """For one payload and for many."""
    async with connect(face, closed_port, on_unavailable=policy) as client:
        verdicts = [
            await client.validate(TOOL, {}),
            *await client.validate_batch([Item(Arguments({}))] * 2, target=TOOL),
        ]
    assert [(expected, "SIDECHECK_UNAVAILABLE")] * 3 == [
        (one.valid, one.violations[0].code) for one in verdicts if isinstance(one, Verdict)
    ]


async def test_no_server_is_raised_by_default(face: str, closed_port: str) -> None:
    """Within the deadline, and after the retries."""
    async with connect(face, closed_port) as client:
        with pytest.raises(Unavailable) as raised:
            await client.validate(TOOL, {})
        with pytest.raises(Unavailable):
            await client.info()
    assert grpc.StatusCode.UNAVAILABLE is raised.value.status


async def test_no_proxy_stands_between(
    face: str, closed_port: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Plain text for a neighbour does not go through what ``http_proxy`` names."""
    monkeypatch.setenv("http_proxy", f"http://{closed_port}")
    monkeypatch.setenv("grpc_proxy", f"http://{closed_port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("no_grpc_proxy", raising=False)

    async def answer(request: Any, context: Context) -> ValidateResponse:
        return YES

    async with serving(answer) as address, connect(face, address) as client:
        assert await client.validate(TOOL, {}) == EXPECTED


async def test_sockets_in_the_file_system_are_addresses(face: str, tmp_path: Path) -> None:
    """A sidecar needs no port."""

    async def answer(request: Any, context: Context) -> ValidateResponse:
        return YES

    async with (
        serving(answer, address=f"unix:{tmp_path}/s") as address,
        connect(face, address) as client,
    ):
        assert await client.validate(TOOL, {}) == EXPECTED


async def test_answers_may_be_larger_than_the_default_of_grpc(face: str) -> None:
    """The server bounds what it receives, not what it says: gRPC alone stops at 4 MiB."""
    version = "x" * (5 << 20)

    async def answer(request: Any, context: Context) -> GetServerInfoResponse:
        return GetServerInfoResponse(version=version)

    async with (
        serving(answer, rpcs.GET_SERVER_INFO) as address,
        connect(face, address) as client,
    ):
        info = await client.info(timeout=120)
    assert len(version) == len(info.version)


async def test_an_abandoned_call_is_cancelled() -> None:
    """The server learns of it at once and not at the deadline."""
    begun, ended = asyncio.Event(), asyncio.Event()

    async def answer(request: Any, context: Context) -> ValidateResponse:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return YES

    async with serving(answer) as address, connect("asynchronous", address) as client:
        task = asyncio.create_task(client.validate(TOOL, {}, timeout=300))
        await asyncio.wait_for(begun.wait(), 120)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 120)


def test_a_client_can_be_made_before_any_loop_runs(closed_port: str) -> None:
    """The channel belongs to the loop of the first call."""
    client = connect("asynchronous", closed_port, on_unavailable="deny")

    async def ask() -> Verdict:
        async with client:
            return await client.validate(TOOL, {})

    assert not asyncio.run(ask()).valid
