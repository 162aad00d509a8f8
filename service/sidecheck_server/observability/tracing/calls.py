"""Spans of calls: wrappers of the handlers of methods, for every transport.

The attributes follow the semantic conventions for RPC, which are a release candidate:
https://github.com/open-telemetry/semantic-conventions/tree/v1.44.0/docs/rpc.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import grpc
import msgspec
from opentelemetry import propagate, trace
from opentelemetry.context import Context, attach, detach, get_current
from opentelemetry.trace import Link, Span, SpanKind, Tracer, set_span_in_context
from sidecheck.v1.protocol_service_pb2 import CheckMessageRequest, CheckSessionRequest
from sidecheck.v1.validation_service_pb2 import ValidateRequest, ValidateStreamRequest

from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.types import Verdict
from sidecheck_server.observability.tracing.instrumentation import Carrier
from sidecheck_server.observability.tracing.spans import (
    Attributes,
    CallSpans,
    record_error,
    status_name,
)
from sidecheck_server.rpc.calls import Call, CallFailed, has_passed_deadline
from sidecheck_server.rpc.method_table import Kind, Method
from sidecheck_server.rpc.status import STATUS_CODES, reason_of

__all__ = [
    "CallTracer",
    "Origin",
    "TracedCall",
    "context_of_call",
    "context_of_message",
    "origin_of",
    "origin_of_text",
    "record_outcome",
]

_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: f"sidecheck.{name}"
        for name in (
            *("outcome", "enforced", "violations", "codes", "items", "invalid", "errors"),
            *("tools", "names", "strict", "rejected", "removed", "deleted"),
        )
    }
)
"""Attributes of spans for fields of the log."""

_CANCELLED: Final = grpc.StatusCode.CANCELLED.name
_DEADLINE_EXCEEDED: Final = grpc.StatusCode.DEADLINE_EXCEEDED.name


class TracedCall:
    """A call with its span; as a context manager, it ends the span."""

    __slots__ = ("_call", "_spans", "_started_at", "context")

    def __init__(self, call: Call, spans: CallSpans, parent: Context) -> None:
        self._call = call
        self._spans = spans
        self._started_at = time.perf_counter()
        #: The context for the work in the call.
        self.context = spans.context(parent)

    def __enter__(self) -> None:
        """Begin the call."""

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        """End the span, with the status that *error* gives the call."""
        span, status = self._spans.span, self._status(error)
        span.set_attribute("rpc.response.status_code", status)
        record_error(span, status)
        self._spans.end()

    @property
    def link(self) -> tuple[Link, ...]:
        """The link to the span of the call."""
        return (Link(self._spans.span.get_span_context()),)

    @property
    def peer(self) -> str:
        """The address of the caller."""
        return self._call.peer

    @property
    def metadata(self) -> Mapping[str, str]:
        """The metadata with text values."""
        return self._call.metadata

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline."""
        return self._call.time_remaining()

    def observe(
        self, fields: Mapping[str, Any], codes: Mapping[str, int], reasons: Mapping[str, int]
    ) -> None:
        """Set attributes from the logged fields of the responses."""
        attributes = {_FIELDS[name]: value for name, value in fields.items() if name in _FIELDS}
        if reasons:
            attributes["sidecheck.reasons"] = sorted(reasons)
        self._spans.span.set_attributes(attributes)
        self._call.observe(fields, codes, reasons)

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Set the attribute for the reason of the failure."""
        self._spans.span.set_attribute("sidecheck.reason", _reason(reason))
        self._call.observe_error(reason)

    def _status(self, error: BaseException | None) -> str:
        """Return the name of the status of the call, which failed with *error* or not."""
        match error:
            case None:
                return "OK"
            case CallFailed():
                return status_name(error.status.code)
            case asyncio.CancelledError() | GeneratorExit():
                return self._status_of_cancelled()
            case _:
                return "UNKNOWN"

    def _status_of_cancelled(self) -> str:
        """Return the status of a call that the peer or the deadline has ended."""
        seconds = time.perf_counter() - self._started_at
        is_late = has_passed_deadline(self._call.time_remaining(), seconds)
        return _DEADLINE_EXCEEDED if is_late else _CANCELLED


def record_outcome(span: Span, outcome: Any) -> None:
    """Record the *outcome* of an item of a stream."""
    if outcome.HasField("error"):
        span.set_attribute("sidecheck.outcome", "error")
        span.set_attribute("sidecheck.reason", reason_of(outcome.error))
        record_error(span, status_name(outcome.error.code))
        return
    verdict = outcome.result.verdict if hasattr(outcome, "result") else outcome.verdict
    span.set_attribute("sidecheck.outcome", "valid" if verdict.valid else "invalid")
    span.set_attribute("sidecheck.violations", len(verdict.violations))


def _reason(reason: ErrorReason | None) -> str:
    return "INTERNAL" if reason is None else reason.value


_KEY: Final = b'"traceparent"'

#: A JSON text that may carry a trace context in `_meta`, and its decoder.
_ContextSource = tuple[bytes, "msgspec.json.Decoder[Any]"]


class Origin(NamedTuple):
    """Origin of a span: its parent and its links."""

    #: The context with the parent span, if any.
    context: Context
    links: tuple[trace.Link, ...] = ()


def context_of_call(call: Call) -> Context:
    """Return the context in the metadata of *call*, or else of the current task."""
    return propagate.extract(call.metadata, get_current())


def context_of_message(request: object) -> Context | None:
    """Return the context in `_meta` of the MCP message in *request*, or None."""
    read = _MESSAGES.get(type(request))
    return None if read is None else _context_in(*read(request))


def _context_in(text: bytes, decoder: "msgspec.json.Decoder[Any]") -> Context | None:
    if _KEY not in text:
        return None
    try:
        meta = decoder.decode(text).meta
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    if meta is None:
        return None
    context = propagate.extract(meta, Context())
    return context if _span_context(context).is_valid else None


def origin_of(ambient: Context, request: object) -> Origin:
    """Return the origin of a span for *request*, in the context *ambient* of its call.

    The parent is the span in the context of the message (SEP-414), and the span of the call is
    linked: the sender of a message is not always its cause.
    """
    return _origin(ambient, context_of_message(request))


def origin_of_text(ambient: Context, message: bytes) -> Origin:
    """Return the origin of a span for the MCP *message*; b"" for no message."""
    return _origin(ambient, _context_in(message, _MESSAGE))


def _origin(ambient: Context, context: Context | None) -> Origin:
    if context is None:
        return Origin(ambient)
    carrier = _span_context(ambient)
    return Origin(context, (trace.Link(carrier),) if carrier.is_valid else ())


def _span_context(context: Context) -> trace.SpanContext:
    return trace.get_current_span(context).get_span_context()


class _Params(msgspec.Struct, rename={"carrier": "_meta"}):
    """The params of a request, reduced to `_meta`."""

    carrier: dict[str, Any] | None = None

    @property
    def meta(self) -> Mapping[str, str] | None:
        """The text values of `_meta`, the input of propagators."""
        if self.carrier is None:
            return None
        return {name: text for name, text in self.carrier.items() if isinstance(text, str)}


class _Message(msgspec.Struct):
    """A request or a notification."""

    params: _Params | None = None

    @property
    def meta(self) -> Mapping[str, str] | None:
        return None if self.params is None else self.params.meta


_PARAMS: Final = msgspec.json.Decoder(_Params)
_MESSAGE: Final = msgspec.json.Decoder(_Message)

# Unset messages are empty.
_MESSAGES: Final[Mapping[type, Callable[[Any], _ContextSource]]] = MappingProxyType(
    {
        CheckMessageRequest: lambda request: (request.message.json, _MESSAGE),
        CheckSessionRequest: lambda request: (request.item.message.json, _MESSAGE),
        ValidateRequest: lambda request: (request.subject.call_params, _PARAMS),
        ValidateStreamRequest: lambda request: (request.item.item.subject.call_params, _PARAMS),
    }
)
"""Functions that return the MCP message in a request, or its params, with the decoder."""


_KINDS: Mapping[Carrier, SpanKind] = MappingProxyType(
    {
        Carrier.GRPC: SpanKind.SERVER,
        Carrier.HTTP: SpanKind.SERVER,
    }
)


class CallTracer:
    """Factory of spans for calls."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def trace(self, methods: Iterable[Method], carrier: Carrier) -> Iterator[Method]:
        """Yield *methods* with handlers that create a span for each call."""
        for method in methods:
            handlers = _Handlers(method, carrier, self._tracer)
            unary = method.kind is Kind.UNARY
            yield replace(method, handler=handlers.respond if unary else handlers.stream)

    @contextmanager
    def observe(self, path: str, message: bytes) -> Iterator["_LocalCall"]:
        """Create a span for a check in this process, caused by *message*.

        *path* is the full name of the API method that makes the same check.
        """
        context, links = origin_of_text(get_current(), message)
        span = self._tracer.start_span(
            path,
            context,
            SpanKind.INTERNAL,
            attributes={"rpc.system.name": "sidecheck_local", "rpc.method": path},
            links=links,
        )
        spans = CallSpans(span)
        call = _LocalCall(span)
        token = attach(spans.context(context))
        try:
            yield call
        finally:
            detach(token)
            span.set_attribute("rpc.response.status_code", call.status)
            record_error(span, call.status)
            spans.end()


class _LocalCall:
    """A check in this process, whose outcome becomes attributes of its *span*."""

    def __init__(self, span: Span) -> None:
        self._span = span
        #: Name of the status of an equivalent call.
        self.status = "CANCELLED"

    def completed(self, *verdicts: Verdict) -> None:
        """Record the *verdicts*."""
        self.status = "OK"
        violations = [violation for verdict in verdicts for violation in verdict.violations]
        invalid = sum(not verdict.valid for verdict in verdicts)
        attributes: dict[str, Any] = {"sidecheck.violations": len(violations)}
        if len(verdicts) == 1:
            attributes["sidecheck.outcome"] = "invalid" if invalid else "valid"
        else:
            attributes |= {"sidecheck.tools": len(verdicts), "sidecheck.invalid": invalid}
        if violations:
            attributes["sidecheck.codes"] = sorted({violation.code for violation in violations})
        self._span.set_attributes(attributes)

    def failed(self, reason: ErrorReason | None) -> None:
        """Record the reason why there is no verdict."""
        self.status = "INTERNAL" if reason is None else STATUS_CODES[reason].name
        self._span.set_attribute("sidecheck.reason", "INTERNAL" if reason is None else reason.value)


class _Handlers:
    """Wrapper of the handler of a method, which creates spans."""

    def __init__(self, method: Method, carrier: Carrier, tracer: Tracer) -> None:
        self._handler = method.handler
        self._tracer = tracer
        self._name = method.path
        self._is_bidirectional = method.kind is Kind.BIDI_STREAM
        self._kind = _KINDS[carrier]
        self._attributes: Attributes = {
            "rpc.system.name": carrier.value,
            "rpc.method": method.path,
        }

    async def respond(self, request: Any, call: Call) -> Any:
        """Return the response to *request*."""
        context, links = origin_of(context_of_call(call), request)
        span = self._start(context, links)
        if not span.is_recording():
            token = attach(set_span_in_context(span, context))
            try:
                return await self._handler(request, call)
            finally:
                detach(token)
        traced = TracedCall(call, CallSpans(span), context)
        token = attach(traced.context)
        try:
            with traced:
                return await self._handler(request, traced)
        finally:
            detach(token)

    async def stream(self, request: Any, call: Call) -> AsyncIterator[Any]:
        """Yield the responses to *request*, a request or a stream of requests."""
        context = context_of_call(call)
        traced = TracedCall(call, CallSpans(self._start(context)), context)
        messages = _Messages(traced, self._tracer, f"{self._name} message")
        if self._is_bidirectional:
            request = messages.read(request)
        with traced, messages:
            async with aclosing(self._handler(request, traced)) as responses:
                while True:
                    # A generator may be resumed in a different context.
                    token = attach(traced.context)
                    try:
                        response = await anext(responses)
                    except StopAsyncIteration:
                        return
                    finally:
                        detach(token)
                    messages.end(response)
                    yield response

    def _start(self, context: Context, links: tuple[Link, ...] = ()) -> Span:
        return self._tracer.start_span(
            self._name, context, self._kind, attributes=self._attributes, links=links
        )


class _Messages:
    """Spans for the messages of a stream that carry trace contexts.

    The response to a message precedes the next message.
    """

    def __init__(self, traced: TracedCall, tracer: Tracer, name: str) -> None:
        self._link = traced.link
        self._tracer = tracer
        self._name = name
        self._spans: CallSpans | None = None

    def __enter__(self) -> None:
        """Begin the stream."""

    def __exit__(self, *_exc_info: object) -> None:
        self.end(None)

    async def read(self, requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """Yield *requests*, each in the context of its span."""
        async for request in requests:
            self.end(None)
            context = context_of_message(request)
            if context is not None:
                span = self._tracer.start_span(self._name, context, links=self._link)
                self._spans = CallSpans(span)
                # The next resumption of the stream restores the context.
                attach(self._spans.context(context))
            yield request
            # Release the memory while waiting for the next request.
            del request

    def end(self, response: Any) -> None:
        """End the span of the message before *response*, None if it has no response."""
        spans, self._spans = self._spans, None
        if spans is not None:
            if response is not None and response.HasField("outcome"):
                record_outcome(spans.span, response.outcome)
            spans.end()
