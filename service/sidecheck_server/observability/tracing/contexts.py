"""Trace contexts that calls carry: in their metadata, and in `_meta` of their MCP messages.

Both are read by the propagators that ``OTEL_PROPAGATORS`` names, which are those of W3C if it
names none. `_meta` of a request has the keys of W3C as they are (SEP-414).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec
from opentelemetry import propagate, trace
from opentelemetry.context import Context, get_current
from sidecheck.v1.protocol_service_pb2 import CheckMessageRequest, CheckSessionRequest
from sidecheck.v1.validation_service_pb2 import ValidateRequest, ValidateStreamRequest

from sidecheck_server.rpc.calls import Call

__all__ = ["Origin", "context_of_call", "context_of_message", "origin_of", "origin_of_text"]

_KEY: Final = b'"traceparent"'

_Carried = tuple[bytes, "msgspec.json.Decoder[Any]"]


class Origin(NamedTuple):
    """What a span descends from."""

    #: Has the parent, if there is one.
    context: Context
    links: tuple[trace.Link, ...] = ()


def context_of_call(call: Call) -> Context:
    """Return the context in the metadata of *call*, or else that of the current task."""
    return propagate.extract(call.metadata, get_current())


def context_of_message(request: object) -> Context | None:
    """Return the context in `_meta` of the MCP message that *request* carries, if there is one."""
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

    The context of the message is the parent, and the span is linked to that of the call: the
    one that caused the message is not always the one that carries it.
    """
    return _origin(ambient, context_of_message(request))


def origin_of_text(ambient: Context, message: bytes) -> Origin:
    """Return the origin of a span for the MCP *message*, as `origin_of` does; b"" for none."""
    return _origin(ambient, _context_in(message, _MESSAGE))


def _origin(ambient: Context, context: Context | None) -> Origin:
    if context is None:
        return Origin(ambient)
    carrier = _span_context(ambient)
    return Origin(context, (trace.Link(carrier),) if carrier.is_valid else ())


def _span_context(context: Context) -> trace.SpanContext:
    return trace.get_current_span(context).get_span_context()


class _Params(msgspec.Struct, rename={"carrier": "_meta"}):
    """The params of a request, of which `_meta` alone is read."""

    carrier: dict[str, Any] | None = None

    @property
    def meta(self) -> Mapping[str, str] | None:
        """What the propagators read."""
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

# A message that is not set is empty.
_MESSAGES: Final[Mapping[type, Callable[[Any], _Carried]]] = MappingProxyType(
    {
        CheckMessageRequest: lambda request: (request.message.json, _MESSAGE),
        CheckSessionRequest: lambda request: (request.item.message.json, _MESSAGE),
        ValidateRequest: lambda request: (request.subject.call_params, _PARAMS),
        ValidateStreamRequest: lambda request: (request.item.item.subject.call_params, _PARAMS),
    }
)
"""Where requests have the message of a peer, or the params of one."""
