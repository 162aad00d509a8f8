"""Concurrent validations that share batches: their calls, and the callers' results."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from sidecheck import (
    ABSENT,
    BlockingClient,
    Client,
    Document,
    Options,
    Schema,
    SidecheckError,
    ToolDefinition,
    Unavailable,
    Verdict,
)
from sidecheck.v1 import validation_service_pb2 as validation_pb
from sidecheck.v1 import verdict_pb2 as verdict_pb
from sidecheck.v1.info_service_pb2 import GetServerInfoResponse, Limits
from support.raw_servers import serving_messages
from support.running import RunningServer
from support.shared_cases import CALLS, VALIDATE

ANY = Schema(b"true")
LIMITS = Limits(message_bytes=4 << 20, batch_items=10_000)
INFO = GetServerInfoResponse(limits=LIMITS).SerializeToString()
#: For what happens; never awaited in full.
PATIENCE = 120.0


class Recorder:
    """Answers validations, and records them; those before `release` wait for it.

    A payload 0 is invalid, and any other is valid. *answer* may change the answer to an item.
    """

    def __init__(self, answer: Callable[[Any], Any] = lambda _item: None) -> None:
        self.calls: list[tuple[str, int]] = []
        self.requests: list[Any] = []
        self.released = asyncio.Event()
        self.arrived = asyncio.Condition()
        self.cancelled: Counter[str] = Counter()
        self._answer = answer

    async def __call__(self, path: str, request: bytes, context: Any) -> list[bytes]:
        method = path.rpartition("/")[2]
        if method == "GetServerInfo":
            return [INFO]
        single = method == "Validate"
        kind = validation_pb.ValidateRequest if single else validation_pb.ValidateBatchRequest
        message: Any = kind.FromString(request)
        items = [message] if single else list(message.items)
        async with self.arrived:
            self.calls.append((method, len(items)))
            self.requests.append(message)
            self.arrived.notify_all()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            async with self.arrived:
                self.cancelled[method] += 1
                self.arrived.notify_all()
            raise
        if single:
            return [validation_pb.ValidateResponse(verdict=_verdict(message)).SerializeToString()]
        outcomes = [
            self._answer(item) or validation_pb.ValidateOutcome(verdict=_verdict(item))
            for item in items
        ]
        return [validation_pb.ValidateBatchResponse(outcomes=outcomes).SerializeToString()]

    async def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until *condition* holds after a call arrived or was cancelled."""
        async with asyncio.timeout(PATIENCE), self.arrived:
            await self.arrived.wait_for(condition)


def _verdict(item: Any) -> verdict_pb.Verdict:
    return verdict_pb.Verdict(valid=item.subject.arguments != b"0", enforced=True)


@asynccontextmanager
async def coalescing(recorder: Recorder, **settings: Any) -> AsyncIterator[Client]:
    """Serve with *recorder*, and yield a client that coalesces."""
    async with (
        serving_messages(recorder) as address,
        Client(address, coalesce=True, **{"timeout": PATIENCE, **settings}) as client,
    ):
        yield client


def start(client: Client, *payloads: bytes, **settings: Any) -> list["asyncio.Task[Verdict]"]:
    """Start a validation of each payload."""
    return [asyncio.create_task(client.validate(ANY, payload, **settings)) for payload in payloads]


async def outcome_of(call: Awaitable[Verdict]) -> Verdict | SidecheckError:
    """Return the verdict, without the revision, or the error."""
    try:
        return replace(await call, registry_revision=0)
    except SidecheckError as error:
        return error


# The same outcomes


def option(name: str, value: Any) -> Any:
    """Return the value of an option, which cases name as the API does."""
    return (
        value.removeprefix(f"{name}_".upper()).lower().replace("_", "-")
        if isinstance(value, str)
        else value
    )


def shared_case(case: dict[str, Any]) -> Callable[[Client], Awaitable[Verdict]]:
    """Return what validates the payload of a shared case."""
    options = Options(**{key: option(key, value) for key, value in case.get("options", {}).items()})
    payload = case["payload"].encode() if "payload" in case else b""
    if "tool" in case:
        target: Any = ToolDefinition(case["tool"].encode())
    else:
        documents = tuple(
            Document(document["uri"], document["json"].encode())
            for document in case.get("documents", ())
        )
        dialect = case.get("default_dialect", "")
        target = Schema(case["schema"].encode(), documents=documents, default_dialect=dialect)
    match case.get("subject", "arguments"):
        case "absent_structured_content":
            return lambda client: client.validate_structured_content(
                target, ABSENT, options=options
            )
        case "structured_content":
            return lambda client: client.validate_structured_content(
                target, payload, options=options
            )
        case "call_params":
            return lambda client: client.validate_call(target, payload, options=options)
        case "call_result":
            return lambda client: client.validate_call_result(target, payload, options=options)
    return lambda client: client.validate(target, payload, options=options)


async def test_all_shared_cases_have_the_same_outcomes(shared_server: RunningServer) -> None:
    """Run concurrently, verdicts and errors are those of plain calls."""
    calls = [shared_case(parameter.values[0]) for parameter in (*VALIDATE, *CALLS)]
    address = shared_server.address
    async with (
        Client(address, timeout=PATIENCE) as plain,
        Client(address, timeout=PATIENCE, coalesce=True) as client,
    ):
        expected = [await outcome_of(call(plain)) for call in calls]
        actual = await asyncio.gather(*(outcome_of(call(client)) for call in calls))
    assert len(expected) > 50
    assert expected == actual


@pytest.mark.parametrize(
    "limits",
    [
        pytest.param({"BATCH_VIOLATIONS": "10"}, id="violations"),
        pytest.param({"VERDICT_CHARACTERS": "400"}, id="characters"),
        pytest.param({"REQUEST_STEPS": "100"}, id="steps"),
        pytest.param({"BATCH_ITEMS": "3"}, id="items"),
        pytest.param({"OFFLOADED_ITEMS": "1", "INLINE_STEPS": "20"}, id="offloaded items"),
    ],
)
async def test_limits_of_a_batch_do_not_affect_results(
    tmp_path: Path, limits: dict[str, str]
) -> None:
    """A single call repeats an item that the limits of the batch affect."""
    names = {f"SIDECHECK_LIMITS__{name}": value for name, value in limits.items()}
    target = Schema(b'{"items": {"type": "string", "minLength": 3}}')
    payloads = [b"[1, 2, 3, %d]" % number for number in range(20)] + [b'["abc"]'] * 5
    running = RunningServer(tmp_path, **names)
    try:
        async with (
            Client(running.address, timeout=PATIENCE) as plain,
            Client(running.address, timeout=PATIENCE, coalesce=True) as client,
        ):
            expected = [await outcome_of(plain.validate(target, payload)) for payload in payloads]
            actual = await asyncio.gather(
                *(outcome_of(client.validate(target, payload)) for payload in payloads)
            )
    finally:
        running.close()
    assert expected == actual


# What is sent


async def test_a_lone_caller_makes_single_calls() -> None:
    """One after the other, each is sent as it would be without the option."""
    recorder = Recorder()
    recorder.released.set()
    async with coalescing(recorder) as client:
        verdicts = [await client.validate(ANY, payload) for payload in (b"0", b"1", b"2")]
    assert [False, True, True] == [verdict.valid for verdict in verdicts]
    assert [("Validate", 1)] * 3 == recorder.calls


async def test_calls_beside_an_outstanding_one_share_a_batch() -> None:
    """It is sent although the first has no response, and verdicts reach their callers."""
    recorder = Recorder()
    async with coalescing(recorder) as client:
        tasks = start(client, b"1", *[b"0", b"2"] * 10)
        await recorder.wait_for(lambda: len(recorder.calls) == 2)
        recorder.released.set()
        verdicts = await asyncio.gather(*tasks)
    assert [("Validate", 1), ("ValidateBatch", 20)] == recorder.calls
    assert [True, *[False, True] * 10] == [verdict.valid for verdict in verdicts]


async def test_callers_of_a_batch_meet_in_the_next() -> None:
    """The next batch waits for callers that call again at once."""
    recorder = Recorder()
    recorder.released.set()

    async def repeat(client: Client, *, guarded: bool) -> None:
        for _ in range(10):
            call = client.validate(ANY, b"1")
            await (asyncio.wait_for(call, PATIENCE) if guarded else call)

    async with coalescing(recorder) as client:
        await asyncio.gather(*(repeat(client, guarded=number % 2 == 0) for number in range(16)))
    assert 160 == sum(size for _, size in recorder.calls)
    assert len(recorder.calls) <= 40


async def test_a_batch_has_at_most_256_items_and_a_quarter_of_a_megabyte() -> None:
    """A full batch is sent at once, and the rest follows."""
    recorder = Recorder()
    recorder.released.set()
    large = b'"%s"' % (b"x" * 50_000)
    async with coalescing(recorder) as client:
        await asyncio.gather(*start(client, *[b"1"] * 513))
        assert [1, 256, 256] == sorted(size for _, size in recorder.calls)
        recorder.calls.clear()
        await asyncio.gather(*start(client, *[large] * 7))
    assert [1, 6] == sorted(size for _, size in recorder.calls)


async def test_a_large_payload_has_its_own_call() -> None:
    """It does not wait for a batch, and other payloads do not wait for it."""
    recorder = Recorder()
    async with coalescing(recorder) as client:
        tasks = start(client, b"1", b'"%s"' % (b"x" * (64 << 10)), b"2", b"3")
        await recorder.wait_for(lambda: len(recorder.calls) == 3)
        recorder.released.set()
        await asyncio.gather(*tasks)
    assert Counter([("Validate", 1), ("Validate", 1), ("ValidateBatch", 2)]) == Counter(
        recorder.calls
    )


@pytest.mark.parametrize("hidden", [False, True], ids=["alike", "unlike"])
async def test_items_keep_their_own_targets_and_options(hidden: bool) -> None:
    """Targets and options that all items share are sent once."""
    recorder = Recorder()
    async with coalescing(recorder) as client:
        tasks = start(client, b"1", b"2")
        tasks += start(client, b"3", options=Options(hide_values=True) if hidden else None)
        await recorder.wait_for(lambda: len(recorder.calls) == 2)
        recorder.released.set()
        await asyncio.gather(*tasks)
    batch = recorder.requests[1]
    targets = [batch] if not hidden else batch.items
    assert {b"true"} == {item_target.target.inline_schema.json for item_target in targets}
    assert [hidden] * 2 == [item.HasField("target") for item in batch.items]
    assert [False, hidden] == [item.options.hide_values for item in batch.items]


# Errors


def error_outcome(reason: str, **metadata: str) -> validation_pb.ValidateOutcome:
    """Return the outcome of an item with an error."""
    detail = AnyMessage()
    detail.Pack(ErrorInfo(reason=reason, domain="sidecheck", metadata=metadata))
    code = grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    return validation_pb.ValidateOutcome(error=Status(code=code, message="m", details=[detail]))


@pytest.mark.parametrize(
    ("answer", "single"),
    [
        pytest.param(error_outcome("LIMIT_EXCEEDED", bound="request_steps"), True, id="unreached"),
        pytest.param(error_outcome("LIMIT_EXCEEDED", bound="offloaded_items"), True, id="worker"),
        pytest.param(error_outcome("LIMIT_EXCEEDED", bound="payload_depth"), False, id="its own"),
        pytest.param(validation_pb.ValidateOutcome(), True, id="neither"),
        pytest.param(
            validation_pb.ValidateOutcome(verdict=verdict_pb.Verdict(truncated=True)),
            True,
            id="truncated",
        ),
    ],
)
async def test_some_items_are_validated_again(answer: Any, single: bool) -> None:
    """These may fail because of other items; errors of the item itself stand."""
    recorder = Recorder(lambda item: answer if item.subject.arguments == b"2" else None)
    recorder.released.set()
    async with coalescing(recorder) as client:
        outcomes = await asyncio.gather(*map(outcome_of, start(client, b"1", b"2", b"3")))
    assert single == (Verdict(valid=True) == outcomes[1])
    assert [Verdict(valid=True)] * 2 == [outcomes[0], outcomes[2]]
    assert single == (len(recorder.calls) > 2)


async def test_items_of_a_failed_batch_are_validated_singly() -> None:
    """A malformed response is such a failure too."""

    async def garbage(path: str, request: bytes, context: Any) -> list[bytes]:
        if path.endswith("/ValidateBatch"):
            return [b"\xff"]
        return await recorder(path, request, context) or []

    recorder = Recorder()
    recorder.released.set()
    async with (
        serving_messages(garbage) as address,
        Client(address, coalesce=True, timeout=PATIENCE) as client,
    ):
        verdicts = await asyncio.gather(*start(client, b"1", b"0", b"2"))
    assert [True, False, True] == [verdict.valid for verdict in verdicts]
    assert [("Validate", 1)] * 3 == recorder.calls


async def test_without_a_server_the_policy_applies_to_each() -> None:
    """Errors are those of plain calls, one exception for each caller."""
    async with (
        Client("127.0.0.1:1", coalesce=True, timeout=PATIENCE) as client,
        Client("127.0.0.1:1", coalesce=True, timeout=PATIENCE, on_unavailable="deny") as denying,
    ):
        errors = await asyncio.gather(*map(outcome_of, start(client, *[b"1"] * 5)))
        denied = await asyncio.gather(*start(denying, *[b"1"] * 5))
    assert [(Unavailable, "UNAVAILABLE")] * 5 == [
        (type(error), getattr(error, "reason", "")) for error in errors
    ]
    assert 5 == len({id(error) for error in errors})
    assert ["SIDECHECK_UNAVAILABLE"] * 5 == [verdict.violations[0].code for verdict in denied]


async def test_a_server_that_is_lost_fails_all_of_its_batch(tmp_path: Path) -> None:
    """The next call fails at once, and does not wait for the batch."""
    running = RunningServer(tmp_path)
    async with Client(running.address, coalesce=True, timeout=PATIENCE) as client:
        assert all(verdict.valid for verdict in await asyncio.gather(*start(client, *[b"1"] * 5)))
        running.close()
        errors = await asyncio.gather(*map(outcome_of, start(client, *[b"1"] * 5)))
        errors.append(await outcome_of(client.validate(ANY, b"1")))
    assert [Unavailable] * 6 == [type(error) for error in errors]


# Deadlines, cancellation and the end


async def test_each_caller_has_its_own_deadline() -> None:
    """One that is over ends its call alone, with the error of a plain call."""
    recorder = Recorder()
    async with coalescing(recorder) as client:
        first, patient = start(client, b"1", b"2")
        (hasty,) = start(client, b"0", timeout=0.01)
        expected = Unavailable(
            "DEADLINE_EXCEEDED",
            "Deadline Exceeded",
            {},
            grpc.StatusCode.DEADLINE_EXCEEDED,
        )
        assert expected == await asyncio.wait_for(outcome_of(hasty), PATIENCE)
        recorder.released.set()
        assert [True, True] == [verdict.valid for verdict in await asyncio.gather(first, patient)]


async def test_a_cancelled_caller_leaves_the_queue() -> None:
    """Its item is not sent."""
    recorder = Recorder()
    async with coalescing(recorder) as client:
        first, second, third, fourth = start(client, b"1", b"0", b"2", b"3")
        await asyncio.sleep(0)
        second.cancel()
        await recorder.wait_for(lambda: len(recorder.calls) == 2)
        recorder.released.set()
        verdicts = await asyncio.gather(first, third, fourth)
        with pytest.raises(asyncio.CancelledError):
            await second
    assert [True] * 3 == [verdict.valid for verdict in verdicts]
    assert ("ValidateBatch", 2) in recorder.calls


async def test_a_cancelled_caller_leaves_its_batch_and_the_last_cancels_it() -> None:
    """The other callers are not affected."""
    recorder = Recorder()
    async with coalescing(recorder) as client:
        first, *batch = start(client, b"1", b"2", b"3", b"4")
        await recorder.wait_for(lambda: len(recorder.calls) == 2)
        batch[0].cancel()
        await asyncio.wait(batch[:1], timeout=PATIENCE)
        assert not recorder.cancelled
        for task in batch[1:]:
            task.cancel()
        await recorder.wait_for(lambda: recorder.cancelled["ValidateBatch"] == 1)
        recorder.released.set()
        assert (await first).valid
        assert all(task.cancelled() for task in batch)
        assert (await client.validate(ANY, b"1")).valid


async def test_closing_the_client_ends_all_calls() -> None:
    """Calls in the queue, in a batch, and single calls end."""
    recorder = Recorder()
    closed = SidecheckError("CLIENT_CLOSED", "the client was closed", {}, grpc.StatusCode.CANCELLED)
    async with coalescing(recorder, on_unavailable="allow") as client:
        tasks = start(client, b"1", b"2", b"3")
        await recorder.wait_for(lambda: len(recorder.calls) == 2)
        tasks += start(client, b"4", b"5")
        await asyncio.sleep(0)
        await client.close()
        outcomes = await asyncio.wait_for(asyncio.gather(*map(outcome_of, tasks)), PATIENCE)
        outcomes.append(await outcome_of(client.validate(ANY, b"1")))
    assert [closed] * 6 == outcomes


async def test_no_task_or_call_remains() -> None:
    """No task and no queued call remains after any end of the calls."""
    recorder = Recorder()
    async with coalescing(recorder) as client:
        tasks = start(client, *[b"1"] * 50)
        await recorder.wait_for(lambda: len(recorder.calls) == 2)
        for task in tasks[::2]:
            task.cancel()
        recorder.released.set()
        await asyncio.gather(*tasks, return_exceptions=True)
        coalescer: Any = client._coalescer
        await asyncio.gather(*coalescer._batches, return_exceptions=True)
        assert ([], 0, 0) == (coalescer._queue, coalescer._queue_bytes, coalescer._outstanding)
        assert all(batch.done() for batch in coalescer._batches)


async def test_a_value_that_json_cannot_express_is_not_queued() -> None:
    """Its caller alone gets the error, and nothing is sent for it."""
    recorder = Recorder()
    recorder.released.set()
    async with coalescing(recorder) as client:
        bad: Any = client.validate(ANY, {1j})  # type: ignore[arg-type]
        first, second, failed = await asyncio.gather(
            *start(client, b"1", b"2"), bad, return_exceptions=True
        )
    assert isinstance(failed, ValueError)
    assert [True, True] == [first.valid, second.valid]  # type: ignore[union-attr]
    assert 2 == sum(size for _, size in recorder.calls)


def test_the_blocking_client_has_no_coalescing() -> None:
    """The message names the alternative."""
    with pytest.raises(ValueError, match="coalesce is not available in BlockingClient"):
        BlockingClient("127.0.0.1:1", coalesce=True)
