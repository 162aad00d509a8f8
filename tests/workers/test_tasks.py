"""Tasks as values: each kind is whole in itself, and all that runs tasks takes any kind."""

import asyncio
import json
import pickle
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import pytest
from opentelemetry.context import attach, detach, get_current
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from sidecheck_server.cli.in_process import InProcessWorker
from sidecheck_server.core.compiler.compilation import CompiledSchema, compile_schema
from sidecheck_server.core.convert.types import ConversionOptions, ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.subjects import CheckRequest, ToolJson
from sidecheck_server.core.mcp.tool_definitions import read_tool
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.observability.tracing.services import trace_tasks
from sidecheck_server.observability.tracing.spans import CallSpans, ChildSpans
from sidecheck_server.server.processes.forwarded_tasks import SharedWorkers, forward_tasks
from sidecheck_server.server.processes.link import Link
from sidecheck_server.services.request_work import charge_tasks, open_request
from sidecheck_server.workers.tasks import (
    KINDS,
    CheckSubject,
    CompareTools,
    CompileSchema,
    ConvertTool,
    InferTools,
    RunTask,
    Task,
    ValidatePayload,
)
from support.own_tasks import ReverseText

LIMITS = Limits(compile_seconds=300, validation_seconds=300, worker_wait_seconds=300)
SOURCE = SchemaSource(b'{"type": "integer"}')
TOOL = json.dumps({"name": "t", "inputSchema": {"type": "object"}}).encode()
DEFINITION = read_tool(TOOL, (), LIMITS)
TASKS: list[Task[Any]] = [
    CompileSchema(SOURCE),
    ValidatePayload(
        CompiledSchema(SOURCE, compile_schema(SOURCE, LIMITS), LIMITS), b"1.5", EvaluationOptions()
    ),
    CheckSubject(CheckRequest(ToolJson(TOOL))),
    ConvertTool(TOOL, (), ModelApi.OPENAI_CHAT, ConversionOptions()),
    InferTools(b"def f(a: int): ...", InferenceOptions()),
    CompareTools(DEFINITION, DEFINITION),
]


@pytest.fixture
async def workers() -> AsyncIterator[SharedWorkers]:
    """Yield a worker that processes share."""
    with closing(SharedWorkers(1, LIMITS, 1 << 20)) as running:
        await running.start()
        yield running


@pytest.fixture
async def forwarded(workers: SharedWorkers) -> AsyncIterator[RunTask]:
    """Yield what runs tasks over a link to *workers*."""
    first, second = socket.socketpair()
    links = await Link.open(first, {}), await Link.open(second, {"run": workers.run_for})
    yield forward_tasks(links[0])
    await asyncio.gather(*(link.close() for link in links))


def facts(task: Task[Any], result: Any) -> Any:
    """Return what can be compared of *result*: reports have no equality, and time differs."""
    steps = 0 if isinstance(task, CompareTools) else task.result_steps(result, LIMITS)
    return type(result), steps, task.result_attributes(result)


@pytest.mark.slow
async def test_a_task_has_the_same_result_in_any_process(
    workers: SharedWorkers, forwarded: RunTask
) -> None:
    """Each kind runs in place, in a worker, and forwarded from another process."""
    assert list(KINDS) == [type(task) for task in TASKS]
    for task in TASKS:
        with closing(InProcessWorker(LIMITS)) as in_process:
            outcomes = [await run(task) for run in (in_process.run, workers.run, forwarded)]

        assert [facts(task, outcomes[0])] * 3 == [facts(task, outcome) for outcome in outcomes]
        assert task.input_steps() == pickle.loads(pickle.dumps(task)).input_steps()
    # The worker compiled once at its start, and caches schemas for other processes.
    assert {kind.name: 2 for kind in KINDS} == workers.tasks


@pytest.mark.slow
async def test_the_class_of_a_task_defines_its_kind(
    workers: SharedWorkers, forwarded: RunTask
) -> None:
    """A kind of the test alone is forwarded, charged, traced and counted."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    run = charge_tasks(trace_tasks(ChildSpans(tracer), forwarded), LIMITS)
    work = open_request(LIMITS)
    token = attach(CallSpans(tracer.start_span("call")).context(get_current()))
    try:
        result = await run(ReverseText("abc"))
        after_result = work.spent
        with pytest.raises(RequestError) as raised:
            await run(ReverseText(""))
    finally:
        detach(token)

    assert "cba" == result
    assert (1003, 2003 + LIMITS.steps) == (after_result, work.spent)
    assert ErrorReason.LIMIT_EXCEEDED is raised.value.reason
    kind = {"sidecheck.task": "reverse"}
    assert [
        {**kind, "sidecheck.text.bytes": 3, "sidecheck.outcome": "reversed"},
        {**kind, "sidecheck.text.bytes": 0, "sidecheck.reason": "LIMIT_EXCEEDED"},
    ] == [dict(span.attributes or {}) for span in exporter.get_finished_spans()]
    assert Counter(compile=1, reverse=2) == workers.tasks
