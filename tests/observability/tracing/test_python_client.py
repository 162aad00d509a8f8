"""The Python client hands the current span of its process over."""

import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from opentelemetry import trace
from sidecheck import BlockingClient, Client
from sidecheck._transport.tokens import Token, call_metadata
from support.traced_server import Caller, TracedServer

INFO = "sidecheck.v1.InfoService/GetServerInfo"


@contextmanager
def current_span() -> Iterator[Caller]:
    """Make the span of a caller the current one in the block."""
    caller = Caller.new()
    context = trace.SpanContext(
        int(caller.trace_id, 16),
        int(caller.span_id, 16),
        is_remote=False,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    with trace.use_span(trace.NonRecordingSpan(context)):
        yield caller


async def test_it_is_the_parent(traced: TracedServer) -> None:
    """The server's spans are children of the client's current span."""
    async with Client(traced.server.address) as client:
        with current_span() as caller:
            await client.info()
    assert [INFO] == [span.name for span in traced.spans_of(caller)]


def test_it_is_the_parent_of_a_blocking_call(traced: TracedServer) -> None:
    """The current span is that of the caller's thread."""
    with BlockingClient(traced.server.address) as client, current_span() as caller:
        client.info()
    assert [INFO] == [span.name for span in traced.spans_of(caller)]


async def test_it_is_the_parent_of_a_stream(traced: TracedServer) -> None:
    """The current span is that at the beginning of the stream."""
    async with Client(traced.server.address) as client:
        with current_span() as caller:
            async with client.protocol.session(from_beginning=False) as session:
                await session.check(b'{"jsonrpc":"2.0","id":1,"method":"ping"}', sender="client")
    # A session first asks for the limits of the server.
    spans = traced.spans_of(caller, 2)
    assert [INFO, "sidecheck.v1.ProtocolService/CheckSession"] == [span.name for span in spans]


@pytest.mark.parametrize("token", [None, "t", lambda: "t"], ids=["none", "text", "function"])
def test_metadata(token: Token | None) -> None:
    """A token and the current span are independent of each other."""
    authorization = () if token is None else (("authorization", "Bearer t"),)
    metadata = call_metadata(token)

    assert authorization == metadata()
    with current_span() as caller:
        assert (*authorization, ("traceparent", caller.traceparent)) == metadata()


def test_the_client_does_not_import_opentelemetry() -> None:
    """Without the OpenTelemetry API, a call has no span."""
    secret = secrets.token_hex(4)
    code = (
        "import sys; from sidecheck._transport.tokens import call_metadata; import sidecheck\n"
        f"print(call_metadata('{secret}')(), [n for n in sys.modules if 'opentelemetry' in n])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True
    )
    assert f"(('authorization', 'Bearer {secret}'),) []" == process.stdout.strip()
