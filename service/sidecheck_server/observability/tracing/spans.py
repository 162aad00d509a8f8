"""Spans of the work that a call causes, children of the span of the call.

Spans have what the log has, and no more: kinds and counts, never names, values or schemas of a
request. Exceptions are not recorded, because their texts may have them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, TypeAlias

import grpc
from opentelemetry.context import Context, attach, create_key, detach, get_current, set_value
from opentelemetry.trace import INVALID_SPAN, Span, StatusCode, Tracer, set_span_in_context
from opentelemetry.util.types import AttributeValue

from sidecheck_server.core.errors import RequestError
from sidecheck_server.rpc.status import STATUS_CODES

__all__ = ["Attributes", "CallSpans", "ChildSpans", "current_spans", "record_error", "status_name"]

Attributes: TypeAlias = Mapping[str, AttributeValue]

_MOST_CHILDREN: Final = 128
"""How many spans a call has below its own.

A batch or a registration may look up, compile and offload ten thousand times, and the queue of
the exporter would drop spans of other calls for it.
"""

_CALL: Final = create_key("sidecheck-call")

_SERVER_ERRORS: Final = frozenset(
    code.name
    for code in (
        *(grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED),
        *(grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INTERNAL),
        *(grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DATA_LOSS),
    )
)
"""Statuses that are errors of a server, by the conventions on gRPC."""

_NAMES: Final[Mapping[int, str]] = {code.value[0]: code.name for code in grpc.StatusCode}


class CallSpans:
    """The spans below that of one call, as many as it may have."""

    __slots__ = ("_count", "span")

    def __init__(self, span: Span) -> None:
        self.span = span
        self._count = 0

    def context(self, context: Context) -> Context:
        """Return *context* with the span of the call; if it is recorded, work has spans too."""
        recorded = self if self.span.is_recording() else None
        return set_value(_CALL, recorded, set_span_in_context(self.span, context))

    def admit(self) -> bool:
        """Return whether the call may have one more."""
        self._count += 1
        return self._count <= _MOST_CHILDREN

    def end(self) -> None:
        """End the span of the call."""
        if self._count > _MOST_CHILDREN:
            self.span.set_attribute("sidecheck.spans.dropped", self._count - _MOST_CHILDREN)
        self.span.end()


class ChildSpans:
    """Makes the spans of work."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[Span]:
        """Make the block a span, if it works for a call whose span is recorded."""
        context = get_current()
        call = current_spans(context)
        if call is None or not call.admit():
            yield INVALID_SPAN
            return
        span = self._tracer.start_span(name, context, attributes=attributes)
        token = attach(set_span_in_context(span, context))
        try:
            yield span
        except RequestError as error:
            span.set_attribute("sidecheck.reason", error.reason.value)
            record_error(span, STATUS_CODES[error.reason].name)
            raise
        except Exception as error:
            record_error(span, "INTERNAL", type(error).__name__)
            raise
        finally:
            detach(token)
            span.end()


def current_spans(context: Context) -> CallSpans | None:
    """Return the spans of the call that *context* belongs to, None if they are not recorded."""
    call = context.get(_CALL)
    return call if isinstance(call, CallSpans) else None


def record_error(span: Span, status: str, error_type: str = "") -> None:
    """Mark *span* as an error if *status* is one of the server."""
    if status in _SERVER_ERRORS:
        span.set_attribute("error.type", error_type or status)
        span.set_status(StatusCode.ERROR)


def status_name(code: int) -> str:
    """Return the name of the status *code* of gRPC."""
    return _NAMES.get(code, "UNKNOWN")
