"""Spans of what fails in the server, in this process with workers that fail."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from typing import Any
from unittest.mock import Mock

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.observability.tracing.instrumentation import Carrier
from sidecheck_server.observability.tracing.sdk import wrap
from sidecheck_server.proxy.checks import NotCheckedError
from sidecheck_server.proxy.checks.local_registry import LocalRegistryChecks
from sidecheck_server.proxy.messages import Message, read_message
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.method_table import Kind, Method
from sidecheck_server.services.container import ServiceOptions, create_services
from sidecheck_server.services.targets import InlineTool
from sidecheck_server.workers.tasks import RunTask
from support.recorded_tasks import RecordedTasks

SECRET = "a value of the request"


class Recorded:
    """A tracer, and the spans that it made."""

    def __init__(self, sampler: Sampler = ALWAYS_ON) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(sampler, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = provider.get_tracer("test")

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()


@contextmanager
def checks_of(run: RunTask, tracer: trace.Tracer) -> Iterator[LocalRegistryChecks]:
    """Yield checks by services in this process, with spans by *tracer*."""
    limits, traced = Limits(), wrap(tracer)
    with closing(open_registry(None, RegistryQuotas())) as registry:
        services = create_services(
            registry,
            traced.tasks(run),
            limits,
            ServiceOptions(memory_bytes=64 << 20),
            classes=traced.classes,
        )
        yield LocalRegistryChecks(services, limits, traced.checks)


async def validate(checks: LocalRegistryChecks) -> None:
    """Validate a call, whose tool has to be compiled."""
    tool = InlineTool(b'{"name":"t","inputSchema":{"type":"object"}}')
    call = read_message(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}')
    assert isinstance(call, Message)
    await checks.validate_call(tool, call, "2025-11-25", None, follows_protocol=True)


CRASHED = RequestError(ErrorReason.WORKER_CRASHED, f"crashed for {SECRET}")


@pytest.mark.parametrize(
    ("error", "reason", "status", "error_type"),
    [
        pytest.param(CRASHED, "WORKER_CRASHED", "UNAVAILABLE", "UNAVAILABLE", id="worker"),
        pytest.param(ValueError(SECRET), "INTERNAL", "INTERNAL", "ValueError", id="unexpected"),
    ],
)
async def test_an_error_of_the_server(
    error: Exception, reason: str, status: str, error_type: str
) -> None:
    """It is one of the task and of all that waits for it; its text is in none of them."""
    recorded = Recorded()
    with (
        checks_of(RecordedTasks(Limits(), error), recorded.tracer) as checks,
        pytest.raises(NotCheckedError) as raised,
    ):
        await validate(checks)

    # The tool is found, and then its schema cannot be compiled.
    names = ["lookup", "offload", "compile", "lookup", "sidecheck.v1.ValidationService/Validate"]
    assert names == [span.name for span in recorded.spans]
    root, *work, call = recorded.spans
    assert trace.StatusCode.UNSET is root.status.status_code
    assert reason == raised.value.reason
    assert {error_type} == {(span.attributes or {})["error.type"] for span in work}
    assert (reason, status, status) == tuple(
        (call.attributes or {})[name]
        for name in ("sidecheck.reason", "rpc.response.status_code", "error.type")
    )
    assert {trace.StatusCode.ERROR} == {span.status.status_code for span in (*work, call)}
    assert {None} == {span.status.description for span in recorded.spans}
    assert SECRET not in "".join(span.to_json() for span in recorded.spans)


async def test_unsampled_calls_have_no_spans() -> None:
    """Their work has none either."""
    recorded = Recorded(ALWAYS_OFF)
    with (
        checks_of(RecordedTasks(Limits(), CRASHED), recorded.tracer) as checks,
        pytest.raises(NotCheckedError, match="WORKER_CRASHED"),
    ):
        await validate(checks)

    assert () == recorded.spans


async def test_a_call_in_the_process_belongs_to_the_current_span() -> None:
    """The current span may be that of a gateway's call."""
    recorded = Recorded()
    with (
        checks_of(RecordedTasks(Limits(), CRASHED), recorded.tracer) as checks,
        recorded.tracer.start_as_current_span("gateway") as gateway,
    ):
        await checks.delete("s", ["t"])

    [call, _] = recorded.spans
    assert call.parent == gateway.get_span_context()
    assert trace.SpanKind.INTERNAL is call.kind
    assert "sidecheck_local" == (call.attributes or {})["rpc.system.name"]


async def test_a_stream_that_is_left() -> None:
    """Its span ends with it, as well as that of the message that is checked, and the handler."""
    recorded, ended = Recorded(), asyncio.Event()

    async def handler(requests: AsyncIterator[Any], _call: Any) -> AsyncIterator[Any]:
        try:
            async for request in requests:
                yield request
        finally:
            ended.set()

    async def requests() -> AsyncIterator[Any]:
        yield Mock()

    call = Mock(metadata={})
    call.time_remaining.return_value = None
    method = Method("s", "m", Kind.BIDI_STREAM, None, None, handler)
    [traced] = wrap(recorded.tracer).methods(Carrier.GRPC)([method])
    stream = traced.handler(requests(), call)
    await anext(stream)
    # Whoever ends it may do so in another context.
    await asyncio.create_task(stream.aclose())

    [span] = recorded.spans
    assert ("s/m", "CANCELLED") == (span.name, (span.attributes or {})["rpc.response.status_code"])
    assert trace.StatusCode.UNSET is span.status.status_code
    assert ended.is_set()
