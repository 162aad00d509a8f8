"""Instrumentation of a service: wrappers of its parts, off by default."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sidecheck_server.proxy.checks.local import ObserveCalls, unobserved
from sidecheck_server.rpc.method_table import Method
from sidecheck_server.services.container import ServiceClasses
from sidecheck_server.workers.tasks import RunTask

__all__ = ["Carrier", "Instrumentation", "TraceMethods"]

#: Takes methods, and returns them with handlers that create spans.
TraceMethods: TypeAlias = Callable[[Iterable[Method]], Iterable[Method]]


class Carrier(Enum):
    """Transport of a call; the value is the attribute ``rpc.system.name`` of the span."""

    GRPC = "grpc"
    HTTP = "sidecheck_http"


def _unchanged(run: RunTask) -> RunTask:
    return run


def _untraced(_carrier: Carrier) -> TraceMethods:
    return lambda methods: methods


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """Traced parts of a service; the defaults create no spans."""

    # Decision 0067: core and services know nothing of tracing; while it is off, it costs nothing.

    classes: ServiceClasses = field(default_factory=ServiceClasses)
    tasks: Callable[[RunTask], RunTask] = _unchanged
    #: Returns the function that wraps the methods of a transport.
    methods: Callable[[Carrier], TraceMethods] = _untraced
    #: Observes the checks that gateways request in the same process.
    checks: ObserveCalls = unobserved
