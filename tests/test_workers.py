"""Worker processes: tasks, crashes, limits, fairness between callers."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import replace

import psutil
import pytest
import pytest_asyncio
from sidecheck_server.core.compiler.compilation import Artifact, CompiledSchema, compile_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, evaluate
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.subjects import CheckRequest, ToolJson
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.core.types import Document
from sidecheck_server.workers import Workers

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMITS = Limits(compile_seconds=300, validation_seconds=300)
NOTICE_SECONDS = 2.0
"""How long the pool may take to see that a worker ended."""

ENDS = "the worker compiling the schema crashed; the call may be retried"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workers() -> AsyncIterator[Workers]:
    """Two workers, for all tests."""
    running = Workers(2, LIMITS)
    await running.start()
    yield running
    running.close()


def processes() -> list[psutil.Process]:
    """The workers that are children of this process."""
    return [child for child in psutil.Process().children() if _is_worker(child)]


def _is_worker(child: psutil.Process) -> bool:
    try:
        return "--multiprocessing-fork" in child.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False


def kill(workers: Iterable[psutil.Process]) -> None:
    """Kill *workers*, as the kernel does when memory runs out."""
    for worker in workers:
        with suppress(psutil.NoSuchProcess):
            worker.kill()


def number(n: int) -> SchemaSource:
    """One schema of many."""
    return SchemaSource(b'{"const": %d}' % n)


def slow(n: int, parts: int = 3000) -> SchemaSource:
    """A schema that takes about a second to compile, or more."""
    many = [{"properties": {"a": {"enum": [n, i, str(i)]}}} for i in range(parts)]
    return SchemaSource(json.dumps({"allOf": many}).encode())


async def outcome(workers: Workers, source: SchemaSource) -> Artifact | RequestError:
    try:
        return await workers.compile(source)
    except RequestError as refusal:
        return refusal


def compiled_here(source: SchemaSource) -> RequestError:
    with pytest.raises(RequestError) as caught:
        compile_schema(source, LIMITS)
    return caught.value


async def test_many_schemas_concurrently_each_get_their_own_artifact(workers: Workers) -> None:
    """Whichever worker makes it."""
    sources = [number(n) for n in range(200)]
    artifacts = await asyncio.gather(*map(workers.compile, sources))
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
        pytest.param(SchemaSource(b'{"type": "x", "minimum": "y"}'), id="problems"),
        pytest.param(SchemaSource(b'{"pattern": "("}'), id="pattern"),
        pytest.param(SchemaSource(b'{"$ref": "#"}'), id="endless"),
        pytest.param(SchemaSource(b" " * 300_000), id="limit"),
        pytest.param(
            SchemaSource(b'{"$ref": "urn:d"}', (Document("urn:d", b'{"type": 3}'),)), id="document"
        ),
    ],
)
async def test_an_error_comes_back_as_it_was_made(workers: Workers, source: SchemaSource) -> None:
    """With its metadata and problems."""
    assert compiled_here(source) == await outcome(workers, source)


@pytest.mark.slow
async def test_a_worker_that_is_killed_costs_only_its_request(workers: Workers) -> None:
    """The other goes on, and a new one takes its place."""
    idle = {worker: sum(worker.cpu_times()[:2]) for worker in processes()}
    lost = asyncio.create_task(outcome(workers, slow(1)))
    busy: list[psutil.Process] = []
    while not busy:
        await asyncio.sleep(0.01)
        busy = [worker for worker in idle if sum(worker.cpu_times()[:2]) > idle[worker] + 0.2]
    kill(busy)
    others = await asyncio.gather(*(outcome(workers, number(n)) for n in range(20)))
    again = await outcome(workers, slow(1))

    assert RequestError(ErrorReason.WORKER_CRASHED, ENDS) == await lost
    assert [True] * 20 == [isinstance(one, Artifact) for one in others]
    assert isinstance(again, Artifact)
    assert 2 == len(processes())


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2])
async def test_workers_that_are_killed_while_idle_cost_nothing(
    workers: Workers, count: int
) -> None:
    """The kernel picks the largest, not the busiest, when memory runs out."""
    kill(processes()[:count])
    await asyncio.sleep(NOTICE_SECONDS)
    got = [await outcome(workers, number(1000 + n)) for n in range(3)]

    assert [True] * 3 == [isinstance(one, Artifact) for one in got]
    assert 2 == len(processes())


@pytest.mark.slow
async def test_a_worker_that_takes_too_long_is_replaced(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its request is rejected for that."""
    before = processes()
    monkeypatch.setattr(workers, "_limits", replace(LIMITS, compile_seconds=1))
    late = await outcome(workers, slow(2, 4900))
    monkeypatch.undo()

    assert isinstance(late, RequestError)
    assert {"bound": "compile_seconds", "limit": "1"} == late.metadata
    assert isinstance(await outcome(workers, number(2)), Artifact)
    assert 1 == len(set(before) & set(processes()))


@pytest.mark.slow
async def test_a_pool_that_stands_still_is_replaced(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it does when a worker dies with the lock of their pipe."""
    monkeypatch.setattr(workers._pool, "_stuck_seconds", 0.5)
    stopped = processes()
    for worker in stopped:
        worker.suspend()
    asked = asyncio.create_task(outcome(workers, number(3)))
    await asyncio.sleep(1)
    monkeypatch.undo()
    got = await outcome(workers, number(4))
    kill(stopped)
    stuck = await asked

    assert isinstance(stuck, RequestError)
    assert ErrorReason.WORKER_CRASHED is stuck.reason
    assert isinstance(got, Artifact)
    assert set() == set(stopped) & set(processes())


async def test_ctrl_c_does_not_reach_the_workers() -> None:
    """Not even before they run any of our code."""
    before = set(processes())
    running = Workers(1, LIMITS)
    [worker] = set(processes()) - before
    os.kill(worker.pid, signal.SIGINT)
    await running.start()
    os.kill(worker.pid, signal.SIGINT)
    got = await outcome(running, number(4))
    running.close()

    assert isinstance(got, Artifact)


async def test_closing_leaves_no_process() -> None:
    """Whatever it was doing."""
    before = set(processes())
    running = Workers(2, LIMITS)
    await running.start()
    under_way = asyncio.create_task(outcome(running, slow(3)))
    await asyncio.sleep(NOTICE_SECONDS)
    during = set(processes()) - before
    running.close()
    after = set(processes()) - before
    under_way.cancel()
    await asyncio.gather(under_way, return_exceptions=True)

    assert (2, set()) == (len(during), after)


async def test_a_worker_checks_and_rejects_as_the_core_does(workers: Workers) -> None:
    """What is not JSON needs no protocol schema."""
    checked = await workers.check(CheckRequest(ToolJson(b"{"), Context(hide_values=True)))
    assert [one.code for one in checked.findings.verdict().violations] == ["PAYLOAD_NOT_JSON"]
    with pytest.raises(RequestError) as refusal:
        await workers.check(CheckRequest(ToolJson(b"[" * 1000)))
    assert refusal.value.metadata["bound"] == "schema_depth"


async def test_a_worker_infers_and_rejects_as_the_core_does(workers: Workers) -> None:
    """All of it comes back: definitions, places, and the bound."""
    source = b"def f(a: int) -> list[int]: ...\ndef g(b): ...\ndef h(c: Unknown): ..."
    options = InferenceOptions(functions=("f", "g", "h", "i"))
    expected = infer_tools(source, options, LIMITS)
    assert (2, 3) == (len(expected.tools), len(expected.diagnostics))
    assert expected == await workers.infer(source, options)
    with pytest.raises(RequestError) as refusal:
        await workers.infer(b" " * 65_537, options)
    assert "source_bytes" == refusal.value.metadata["bound"]
