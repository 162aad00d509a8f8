"""OpenTelemetry collector that records the received spans."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Condition
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1 import trace_pb2

__all__ = ["Collector", "Tree", "environment_of", "trees"]

_PATIENCE = 180.0

_KINDS = {
    trace_pb2.Span.SPAN_KIND_INTERNAL: "internal",
    trace_pb2.Span.SPAN_KIND_SERVER: "server",
    trace_pb2.Span.SPAN_KIND_CLIENT: "client",
}


class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """A gRPC server with the trace service of OTLP."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._requests: list[bytes] = []
        #: The metadata of the calls.
        self.metadata: list[dict[str, Any]] = []
        self._server = grpc.server(ThreadPoolExecutor(2))
        add: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
        add(self, self._server)
        port = self._server.add_insecure_port("127.0.0.1:0")
        self.endpoint = f"http://127.0.0.1:{port}"
        self._server.start()

    def Export(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Record the spans of *request*."""
        with self._changed:
            self._requests.append(request.SerializeToString())
            self.metadata.append(dict(context.invocation_metadata()))
            self._changed.notify_all()
        return trace_service_pb2.ExportTraceServiceResponse()

    @property
    def exported(self) -> bytes:
        """All bytes that were received."""
        with self._changed:
            return b"".join(self._requests)

    def spans(self) -> list[Any]:
        """Return the received spans."""
        return [span for _, span in self._spans_by_resource()]

    def resources(self) -> list[dict[str, Any]]:
        """Return the attributes of the resource of each span."""
        return [attributes_of(resource) for resource, _ in self._spans_by_resource()]

    def wait_for(self, condition: Callable[[Sequence[Any]], bool]) -> list[Any]:
        """Return the received spans as soon as *condition* is true of them."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self.spans()), _PATIENCE):
                names = [span.name for span in self.spans()]
                raise AssertionError(f"the collector received no more than {names}")
            return self.spans()

    def wait_for_call(self, name: str, count: int = 1) -> list[Any]:
        """Return the spans as soon as *count* calls of the method *name* were received."""
        return self.wait_for(lambda spans: count <= sum(_is_call(span, name) for span in spans))

    def clear(self) -> None:
        """Delete all spans."""
        with self._changed:
            self._requests.clear()

    def close(self) -> None:
        """Stop the server."""
        self._server.stop(None).wait()

    def _spans_by_resource(self) -> Iterator[tuple[Any, Any]]:
        with self._changed:
            requests = list(self._requests)
        for text in requests:
            request = trace_service_pb2.ExportTraceServiceRequest.FromString(text)
            for resource_spans in request.resource_spans:
                for scope_spans in resource_spans.scope_spans:
                    for span in scope_spans.spans:
                        yield resource_spans.resource, span


def environment_of(collector: Collector) -> dict[str, str]:
    """Return the variables that make a process export to *collector* after a short delay."""
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
        "OTEL_BSP_SCHEDULE_DELAY": "50",
    }


@dataclass
class Tree:
    """A span and its descendants, without ids and times."""

    name: str
    kind: str
    attributes: dict[str, Any]
    children: "list[Tree]" = field(default_factory=list)
    is_error: bool = False
    links: int = 0


def trees(spans: Sequence[Any]) -> list[Tree]:
    """Return the trees of *spans*; siblings are in the order of their start times."""
    children: defaultdict[bytes, list[Any]] = defaultdict(list)
    ids = {span.span_id for span in spans}
    roots: list[Any] = []
    for span in sorted(spans, key=lambda span: span.start_time_unix_nano):
        (children[span.parent_span_id] if span.parent_span_id in ids else roots).append(span)

    def tree(span: Any) -> Tree:
        assert span.end_time_unix_nano >= span.start_time_unix_nano
        return Tree(
            span.name,
            _KINDS[span.kind],
            attributes_of(span),
            [tree(child) for child in children[span.span_id]],
            is_error=span.status.code == trace_pb2.Status.STATUS_CODE_ERROR,
            links=len(span.links),
        )

    return [tree(span) for span in roots]


def attributes_of(span: Any) -> dict[str, Any]:
    """Return the attributes of *span* without the waiting time, which varies."""
    attributes = {entry.key: _value_of(entry.value) for entry in span.attributes}
    if "sidecheck.wait_seconds" in attributes:
        assert 0 <= attributes["sidecheck.wait_seconds"] < time.monotonic()
        attributes["sidecheck.wait_seconds"] = ...
    return attributes


def _value_of(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value_of(element) for element in value.array_value.values]
    return getattr(value, kind)


def _is_call(span: Any, name: str) -> bool:
    return str(span.name).endswith(f"/{name}")
