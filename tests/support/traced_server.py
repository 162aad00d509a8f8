"""A server that exports its spans, and callers that begin traces."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from sidecheck.v1 import target_pb2
from support.collector import Collector, Tree, environment_of, trees
from support.metrics import MeteredServer

__all__ = ["Caller", "TracedServer", "arguments", "inline_schema", "traced_server"]


@dataclass(frozen=True, slots=True)
class Caller:
    """A span of a caller, the parent of the server's spans."""

    trace_id: str
    span_id: str

    @classmethod
    def new(cls) -> "Caller":
        """Return the first span of a trace."""
        return cls(secrets.token_hex(16), secrets.token_hex(8))

    @property
    def traceparent(self) -> str:
        """The sampled span as a W3C `traceparent` header."""
        return f"00-{self.trace_id}-{self.span_id}-01"

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The span as metadata of a call."""
        return (("traceparent", self.traceparent),)


class TracedServer:
    """A server and the collector that it exports to."""

    def __init__(self, server: MeteredServer, collector: Collector, channel: grpc.Channel) -> None:
        self.server = server
        self.collector = collector
        self.channel = channel

    def spans_of(self, caller: Caller, calls: int = 1) -> list[Any]:
        """Return the spans of a trace once it has *calls* children of the caller's span.

        Their descendants have ended before.
        """

        def is_complete(spans: Sequence[Any]) -> bool:
            children = [span for span in spans if span.parent_span_id.hex() == caller.span_id]
            return calls <= len(children)

        spans = self.collector.wait_for(is_complete)
        return [span for span in spans if span.trace_id.hex() == caller.trace_id]

    def tree_of(self, caller: Caller) -> Tree:
        """Return the tree of the one call of a trace."""
        [tree] = trees(self.spans_of(caller))
        return tree


@contextmanager
def traced_server(folder: Path, **environment: str) -> Iterator[TracedServer]:
    """Run a server that exports its spans."""
    collector = Collector()
    running = MeteredServer(folder, **{**environment_of(collector), **environment})
    try:
        with grpc.insecure_channel(running.address) as channel:
            yield TracedServer(running, collector, channel)
    finally:
        running.close()
        collector.close()


def inline_schema(text: bytes) -> target_pb2.Target:
    """Return the target of an inline schema."""
    return target_pb2.Target(inline_schema=target_pb2.InlineSchema(json=text))


def arguments(text: bytes) -> target_pb2.Subject:
    """Return the subject of arguments."""
    return target_pb2.Subject(arguments=text)
