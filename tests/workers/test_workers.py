"""Worker processes: tasks, crashes, limits, fairness between callers."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest
import pytest_asyncio
from sidecheck_server.core.compat.compare import compare_definitions
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import CheckRequest, ToolJson
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document
from sidecheck_server.workers import Workers
from sidecheck_server.workers.tasks import CheckSubject, CompareTools, CompileSchema, InferTools
from support.worker_processes import kill, worker_processes

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = Limits(compile_seconds=300, validation_seconds=300, worker_wait_seconds=300)

ENDS = "the worker compiling the schema crashed; the call may be retried"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workers() -> AsyncIterator[Workers]:
    """Yield two workers, shared by all tests."""
    running = Workers(2, LIMITS)
    await running.start()
    yield running
    running.close()


def number(n: int) -> SchemaSource:
    """Return a schema that is distinct for each *n*."""
    return SchemaSource(b'{"const": %d}' % n)


def slow(n: int, parts: int = 3000) -> SchemaSource:
    """Return a schema that takes about a second or more to compile."""
    many = [{"properties": {"a": {"enum": [n, i, str(i)]}}} for i in range(parts)]
    return SchemaSource(json.dumps({"allOf": many}).encode())


async def compile_outcome(workers: Workers, source: SchemaSource) -> Artifact | RequestError:
    try:
        return await workers.run(CompileSchema(source))
    except RequestError as error:
        return error


def local_error(source: SchemaSource) -> RequestError:
    with pytest.raises(RequestError) as raised:
        compile_schema(source, LIMITS)
    return raised.value


async def test_concurrent_compilations_return_their_own_artifacts(workers: Workers) -> None:
    """Results are matched to requests whichever worker compiles them."""
    sources = [number(n) for n in range(200)]
    artifacts = await asyncio.gather(*(workers.run(CompileSchema(source)) for source in sources))
    schemas = [
        CompiledSchema(source, artifact, LIMITS)
        for source, artifact in zip(sources, artifacts, strict=True)
    ]

    assert [(n, n) for n in range(200)] == [
        (n, m)
        for n, schema in enumerate(schemas)
        for m in (n - 1, n, n + 1)
        if evaluate(schema, b"%d" % m, EvaluationOptions()).valid
    ]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(SchemaSource(b"{"), id="not JSON"),
        pytest.param(SchemaSource(b'{"type": "x", "minimum": "y"}'), id="violations"),
        pytest.param(SchemaSource(b'{"pattern": "("}'), id="pattern"),
        pytest.param(SchemaSource(b'{"$ref": "#"}'), id="reference cycle"),
        pytest.param(SchemaSource(b" " * 300_000), id="limit"),
        pytest.param(
            SchemaSource(b'{"$ref": "urn:d"}', (Document("urn:d", b'{"type": 3}'),)), id="document"
        ),
    ],
)
async def test_an_error_is_returned_unchanged(workers: Workers, source: SchemaSource) -> None:
    """Metadata and violations cross the process boundary."""
    assert local_error(source) == await compile_outcome(workers, source)


@pytest.mark.slow
async def test_the_request_of_a_killed_worker_is_done_again(workers: Workers) -> None:
    """The other worker continues, and a new worker replaces the killed one."""
    killed = asyncio.create_task(compile_outcome(workers, slow(1, 4900)))
    await _kill_when_busy(killed)
    others = await asyncio.gather(*(compile_outcome(workers, number(n)) for n in range(20)))

    assert [True] * 20 == [isinstance(artifact, Artifact) for artifact in others]
    assert isinstance(await killed, Artifact)
    await _until_replaced()


@pytest.mark.slow
async def test_a_request_whose_workers_are_killed_twice_fails(workers: Workers) -> None:
    """It may be the cause of their end; no other request fails."""
    killed = asyncio.create_task(compile_outcome(workers, slow(4, 4900)))
    await _kill_when_busy(killed)
    await _kill_when_busy(killed)

    assert RequestError(ErrorReason.WORKER_CRASHED, ENDS) == await killed
    assert isinstance(await compile_outcome(workers, number(3000)), Artifact)
    await _until_replaced()


async def _kill_when_busy(task: asyncio.Task[Artifact | RequestError]) -> None:
    """Kill the worker that runs *task*, once it has worked for a while."""
    used: dict[psutil.Process, float] = {}
    busy: list[psutil.Process] = []
    while not (busy or task.done()):
        for worker in worker_processes():
            with suppress(psutil.NoSuchProcess):
                now = sum(worker.cpu_times()[:2])
                # A process that has just started is busy with itself.
                if now > used.setdefault(worker, max(now, _START_SECONDS)) + 0.2:
                    busy.append(worker)
        await asyncio.sleep(0.01)
    kill(busy)


_START_SECONDS = 1.5
"""More seconds of a processor than a worker takes to start."""


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
async def test_killing_idle_workers_fails_no_request(workers: Workers, count: int) -> None:
    """The kernel kills the largest process, not the busiest, when memory runs out."""
    kill(worker_processes()[:count])
    results = [await compile_outcome(workers, number(1000 + n)) for n in range(3)]

    assert [True] * 3 == [isinstance(artifact, Artifact) for artifact in results]
    await _until_replaced()


async def _until_replaced() -> None:
    """Return once there are two workers again: the second may start after the tasks have ended."""
    while len(worker_processes()) != 2:  # noqa: ASYNC110  (processes tell no test that they run)
        await asyncio.sleep(0.01)


@pytest.mark.slow
async def test_a_worker_that_takes_too_long_is_replaced(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its request fails with the limit that was exceeded."""
    before = worker_processes()
    monkeypatch.setattr(workers, "_limits", replace(LIMITS, compile_seconds=1))
    late = await compile_outcome(workers, slow(2, 4900))
    monkeypatch.undo()

    assert isinstance(late, RequestError)
    assert {"bound": "compile_seconds", "limit": "1"} == late.metadata
    assert isinstance(await compile_outcome(workers, number(2)), Artifact)
    assert 1 == len(set(before) & set(worker_processes()))


@pytest.mark.parametrize("stop_signal", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_workers_ignore_stop_signals(stop_signal: int) -> None:
    """They do so from the start of the process."""
    before = set(worker_processes())
    running = Workers(1, LIMITS)
    while not (started := set(worker_processes()) - before):  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    [worker] = started
    os.kill(worker.pid, stop_signal)
    await running.start()
    os.kill(worker.pid, stop_signal)
    result = await compile_outcome(running, number(4))
    running.close()

    assert isinstance(result, Artifact)


async def test_closing_leaves_no_process() -> None:
    """Workers end even during a compilation."""
    before = set(worker_processes())
    running = Workers(2, LIMITS)
    await running.start()
    under_way = asyncio.create_task(compile_outcome(running, slow(3)))
    await asyncio.sleep(0.5)
    during = set(worker_processes()) - before
    running.close()
    after = set(worker_processes()) - before
    under_way.cancel()
    await asyncio.gather(under_way, return_exceptions=True)

    assert (2, set()) == (len(during), after)


async def test_a_worker_checks_like_the_core(workers: Workers) -> None:
    """Text that is not JSON needs no protocol schema."""
    checked = await workers.run(
        CheckSubject(CheckRequest(ToolJson(b"{"), Context(hide_values=True)))
    )
    assert [violation.code for violation in checked.findings.verdict().violations] == [
        "PAYLOAD_NOT_JSON"
    ]
    with pytest.raises(RequestError) as raised:
        await workers.run(CheckSubject(CheckRequest(ToolJson(b"[" * 1000))))
    assert raised.value.metadata["bound"] == "schema_depth"


async def test_a_worker_infers_like_the_core(workers: Workers) -> None:
    """Definitions, locations and the exceeded limit cross the process boundary."""
    source = b"def f(a: int) -> list[int]: ...\ndef g(b): ...\ndef h(c: Unknown): ..."
    options = InferenceOptions(functions=("f", "g", "h", "i"))
    expected = infer_tools(source, options, LIMITS)
    assert (2, 3) == (len(expected.tools), len(expected.diagnostics))
    assert expected == await workers.run(InferTools(source, options))
    with pytest.raises(RequestError) as raised:
        await workers.run(InferTools(b" " * 262_145, options))
    assert "source_bytes" == raised.value.metadata["bound"]


async def test_a_worker_compares_like_the_core(workers: Workers) -> None:
    """Verdicts and payloads cross the process boundary, with the steps that they took."""
    old, new = (
        read_tool(
            json.dumps(
                {
                    "name": "t",
                    "inputSchema": {"properties": {"a": {"type": "string", "maxLength": length}}},
                }
            ).encode(),
            (),
            LIMITS,
        )
        for length in (9, 5)
    )
    expected = compare_definitions(old, new, LIMITS)
    compared = await workers.run(CompareTools(old, new))

    assert expected == compared
    assert expected.schemas[0].verdicts.as_written.witness is not None
    assert compared.steps > 0
    assert compare_definitions(old, new, LIMITS, "why") == await workers.run(
        CompareTools(old, new, "why")
    )
