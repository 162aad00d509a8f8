"""What is traced of a service: wrappers of its parts, or the parts as they are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from sidecheck_server.proxy.local_checks import ObserveCalls, unobserved
from sidecheck_server.rpc.method_table import Method
from sidecheck_server.services.container import ServiceClasses
from sidecheck_server.workers.tasks import RunTask

__all__ = ["Carrier", "Instrumentation", "TraceMethods"]

#: Returns methods with handlers that make spans.
TraceMethods: TypeAlias = Callable[[Iterable[Method]], Iterable[Method]]


class Carrier(Enum):
    """What carries a call; its value is the attribute ``rpc.system.name`` of the span."""

    GRPC = "grpc"
    HTTP = "sidecheck_http"


def _unchanged(run: RunTask) -> RunTask:
    return run


def _untraced(_carrier: Carrier) -> TraceMethods:
    return lambda methods: methods


@dataclass(frozen=True, slots=True)
class Instrumentation:
    """The parts of a service that make spans; by default none does."""

    classes: ServiceClasses = field(default_factory=ServiceClasses)
    tasks: Callable[[RunTask], RunTask] = _unchanged
    #: Returns what wraps the methods that a carrier brings calls to.
    methods: Callable[[Carrier], TraceMethods] = _untraced
    #: Observes the checks that gateways ask for in the process.
    checks: ObserveCalls = unobserved
