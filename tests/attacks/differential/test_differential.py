"""The messages that the proxy forwards are those that the official SDKs read.

The cases are the same in each run. Each is a message in a spelling that readers may take in
different ways; one that an SDK reads although it is invalid is shrunk and shown.
"""

import asyncio
import random
from collections.abc import Iterator, Sequence
from typing import Any

import h11
import pytest
from attacks.conftest import Attacked
from attacks.differential.generation import (
    Case,
    event_case,
    is_invalid,
    request_case,
    response_case,
    shrunk,
)
from attacks.differential.relaying import EventRelayer, relaying
from attacks.differential.sdks import PythonSdk, TypeScriptSdk, python_sdk, typescript_sdk
from attacks.raw_http import Received, Response, response_of
from attacks.requests import GOOD_CALL, request
from attacks.responses import GOOD_RESULT

EVENTS, REQUESTS, RESPONSES = 3_200, 1_000, 800
#: Streams of events that go over sockets too.
RELAYED = 200
#: How many cases an SDK reads at least, without the proxy, as an invalid message: others are
#: none of either reader.
READ = {"events": 800, "requests": 60, "responses": 120}

_EVENTS = (("content-type", "text/event-stream"),)


@pytest.fixture(scope="module")
def typescript() -> Iterator[TypeScriptSdk]:
    with typescript_sdk() as sdk:
        yield sdk


def _stream(body: bytes) -> tuple[str, Response]:
    return "POST", Response(200, _EVENTS, body)


async def _read(
    responses: Sequence[tuple[str, Response]], python: PythonSdk, typescript: TypeScriptSdk
) -> list[list[Any]]:
    """Return the messages that clients find in each response, those of both SDKs."""
    by_typescript = typescript.read_responses(responses)
    by_python = [await python.read_response(method, response) for method, response in responses]
    return [
        [*python_reading, *typescript_reading]
        for python_reading, typescript_reading in zip(by_python, by_typescript, strict=True)
    ]


def _invalid(read: list[list[Any]]) -> list[int]:
    """Return the indexes of the cases in which an invalid message was read."""
    return [index for index, messages in enumerate(read) if any(map(is_invalid, messages))]


def _show(case: Case, passed: object) -> str:
    return f"an SDK reads an invalid message of {case.text()!r}, which passes as {passed!r}"


async def test_events(typescript: TypeScriptSdk) -> None:
    """The streams are split at any byte."""
    cases = [event_case(random.Random(f"events {seed}")) for seed in range(EVENTS)]
    async with relaying() as relayer, python_sdk() as python:
        direct = await _read([_stream(case.body) for case in cases], python, typescript)
        passed = [await relayer.relay(case.chunks()) for case in cases]
        read = await _read([_stream(body) for body in passed], python, typescript)
        for index in _invalid(read)[:1]:
            smallest = await _shrunk_stream(cases[index], relayer, python, typescript)
            pytest.fail(_show(smallest, await relayer.relay(smallest.chunks())))

    assert len(_invalid(direct)) > READ["events"]
    assert any("result" in message for messages in read for message in messages)


async def _shrunk_stream(
    case: Case, relayer: EventRelayer, python: PythonSdk, typescript: TypeScriptSdk
) -> Case:
    loop = asyncio.get_running_loop()

    async def fails(smaller: Case) -> bool:
        passed = await relayer.relay(smaller.chunks())
        return bool(_invalid(await _read([_stream(passed)], python, typescript)))

    def wait(smaller: Case) -> bool:
        return asyncio.run_coroutine_threadsafe(fails(smaller), loop).result()

    return await asyncio.to_thread(shrunk, case, wait)


def test_events_over_sockets_are_the_same(attacked: Attacked) -> None:
    """A running proxy relays them as its code does in this process."""
    cases = [event_case(random.Random(f"events {seed}")) for seed in range(RELAYED)]

    async def relay_all() -> list[bytes]:
        async with relaying() as relayer:
            return [await relayer.relay(case.chunks()) for case in cases]

    passed = []
    for case in cases:
        attacked.server.answer = lambda _, case=case: response_of(  # type: ignore[misc]
            case.body, "text/event-stream"
        )
        passed.append(attacked.send(request(GOOD_CALL)).body)

    assert asyncio.run(relay_all()) == passed


def test_requests(attacked: Attacked, typescript: TypeScriptSdk) -> None:
    """They differ in heads, paths, methods, encodings and framings."""
    cases = [request_case(random.Random(f"requests {seed}")) for seed in range(REQUESTS)]
    attacked.server.answer = lambda _: response_of(GOOD_RESULT)

    def read_all(received: Sequence[list[Received]]) -> list[list[Any]]:
        # A GET has no message to either SDK, and the stream that it opens does not end.
        flat = [
            (index, request)
            for index, some in enumerate(received)
            for request in some
            if not request.line.startswith("GET ")
        ]
        by_case: list[list[Any]] = [[] for _ in received]
        by_typescript = typescript.read_requests([request for _, request in flat])
        by_python = asyncio.run(_read_requests([request for _, request in flat]))
        for (index, _), python_request, typescript_request in zip(
            flat, by_python, by_typescript, strict=True
        ):
            by_case[index] += [*python_request, *typescript_request]
        return by_case

    def send(case: Case) -> list[Received]:
        attacked.server.received.clear()
        attacked.send(case.text())
        return [*attacked.server.received]

    direct = read_all([_received(case) for case in cases])
    passed = [send(case) for case in cases]
    read = read_all(passed)
    for index in _invalid(read)[:1]:
        smallest = shrunk(cases[index], lambda case: bool(_invalid(read_all([send(case)]))))
        pytest.fail(_show(smallest, send(smallest)))

    assert len(_invalid(direct)) > READ["requests"]
    assert any(read)


async def _read_requests(received: Sequence[Received]) -> list[list[Any]]:
    async with python_sdk() as python:
        return [await python.read_request(request) for request in received]


def _received(case: Case) -> list[Received]:
    """Return *case* as a server without the proxy gets it, nothing if it is no request."""
    head, _, body = case.text().partition(b"\r\n\r\n")
    connection = h11.Connection(h11.SERVER)
    try:
        connection.receive_data(head + b"\r\n\r\n")
        connection.next_event()
    except h11.RemoteProtocolError:
        return []
    return (
        [] if case.framing == "chunks" or b"\r\n " in head else [Received(head + b"\r\n\r\n", body)]
    )


def test_responses(attacked: Attacked, typescript: TypeScriptSdk) -> None:
    """They differ in heads, statuses, encodings and framings."""
    cases = [response_case(random.Random(f"responses {seed}")) for seed in range(RESPONSES)]

    async def read_async(responses: Sequence[tuple[str, Response]]) -> list[list[Any]]:
        async with python_sdk() as python:
            return await _read(responses, python, typescript)

    def send(case: Case) -> tuple[str, Response]:
        attacked.server.answer = lambda _: case.text()
        body = GOOD_CALL if case.method == "POST" else b""
        return case.method, attacked.send(request(body, method=case.method.encode()))

    def fails(case: Case) -> bool:
        return bool(_invalid(asyncio.run(read_async([send(case)]))))

    direct = asyncio.run(read_async([(case.method, _response(case)) for case in cases]))
    read = asyncio.run(read_async([send(case) for case in cases]))
    for index in _invalid(read)[:1]:
        smallest = shrunk(cases[index], fails)
        pytest.fail(_show(smallest, send(smallest)))

    assert len(_invalid(direct)) > READ["responses"]
    assert any("result" in message for messages in read for message in messages)


def _response(case: Case) -> Response:
    """Return *case* as a client without the proxy gets it."""
    head = [line.replace(b"\r\n", b"").decode("latin-1") for line in case.lines]
    headers = tuple((line.partition(":")[0], line.partition(":")[2].strip()) for line in head[1:])
    return Response(int(head[0].split(" ")[1]), headers, case.body)
