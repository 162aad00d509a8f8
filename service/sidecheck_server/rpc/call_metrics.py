"""Metrics of calls: those of gRPC servers by their usual names, and verdicts.

https://github.com/grpc-ecosystem/go-grpc-middleware, providers/prometheus, names the former.
No label has a value of a request.
"""

import time
from collections.abc import Mapping
from typing import Any

import grpc
from prometheus_client import CollectorRegistry, Counter, Histogram

from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.rpc.method_table import Method

__all__ = ["CallMetrics", "MethodMetrics"]

_METHOD = ("grpc_type", "grpc_service", "grpc_method")

_BUCKETS = (
    *(0.0001, 0.0003, 0.0006, 0.001, 0.003, 0.006),
    *(0.01, 0.03, 0.06, 0.1, 0.3, 0.6, 1.0, 3.0, 6.0, 10.0),
)
"""In seconds: a small call takes a quarter of a millisecond."""

_CODES: Mapping[int, str] = {code.value[0]: code.name for code in grpc.StatusCode}


class CallMetrics:
    """The metrics of all methods."""

    def __init__(self) -> None:
        #: All of them, and others that whoever serves them adds.
        self.registry = registry = CollectorRegistry()
        self.started = Counter(
            "grpc_server_started", "Calls started on the server.", _METHOD, registry=registry
        )
        self.handled = Counter(
            "grpc_server_handled",
            "Calls completed on the server, whatever became of them.",
            (*_METHOD, "grpc_code"),
            registry=registry,
        )
        self.received = Counter(
            "grpc_server_msg_received",
            "Messages of calls received by the server.",
            _METHOD,
            registry=registry,
        )
        self.sent = Counter(
            "grpc_server_msg_sent",
            "Messages of calls sent by the server.",
            _METHOD,
            registry=registry,
        )
        self.seconds = Histogram(
            "grpc_server_handling_seconds",
            "Time from the start of a call to its end on the server.",
            _METHOD,
            buckets=_BUCKETS,
            registry=registry,
        )
        self.verdicts = Counter(
            "sidecheck_verdicts",
            "Verdicts, by method and outcome: valid, invalid, or error where there is none.",
            ("method", "outcome"),
            registry=registry,
        )
        self.errors = Counter(
            "sidecheck_errors",
            "Calls that failed, by method and reason.",
            ("method", "reason"),
            registry=registry,
        )
        self.violations = Counter(
            "sidecheck_violations",
            "Verdicts that have a violation of the code.",
            ("code",),
            registry=registry,
        )

    def of(self, method: Method) -> "MethodMetrics":
        """Return the metrics of *method*."""
        return MethodMetrics(self, method)


class MethodMetrics:
    """The metrics of one method. Series of it begin at zero, so that rates are right at once."""

    def __init__(self, metrics: CallMetrics, method: Method) -> None:
        labels = (method.kind.value, method.service, method.name)
        self._metrics = metrics
        self._name = method.name
        self._labels = labels
        self._started = metrics.started.labels(*labels)
        self._seconds = metrics.seconds.labels(*labels)
        self._ok = metrics.handled.labels(*labels, "OK")
        self._valid = metrics.verdicts.labels(method.name, "valid")
        #: Counts of messages.
        self.received = metrics.received.labels(*labels)
        self.sent = metrics.sent.labels(*labels)

    def begin(self) -> float:
        """Note that a call begins; return the time for `end`."""
        self._started.inc()
        return time.perf_counter()

    def end(self, code: int, begun: float) -> None:
        """Note that the call that began at *begun* ends with the status *code*."""
        self._seconds.observe(time.perf_counter() - begun)
        if code == 0:
            self._ok.inc()
        else:
            self._metrics.handled.labels(*self._labels, _CODES.get(code, "UNKNOWN")).inc()

    def observe(self, fields: Mapping[str, Any], codes: Mapping[str, int]) -> None:
        """Count the verdicts that *fields* of the log and *codes* of violations tell of."""
        outcome = fields.get("outcome")
        if outcome == "valid":
            self._valid.inc()
        elif outcome is not None:
            self._metrics.verdicts.labels(self._name, outcome).inc()
        elif "invalid" in fields:
            self._observe_many(fields)
        for code, count in codes.items():
            self._metrics.violations.labels(code).inc(count)

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Count a call that failed for *reason*, None if unexpected."""
        name = "INTERNAL" if reason is None else reason.value
        self._metrics.errors.labels(self._name, name).inc()

    def _observe_many(self, fields: Mapping[str, Any]) -> None:
        """Count the verdicts of a response with several."""
        counted = (fields[name] for name in ("items", "tools", "names") if name in fields)
        total, invalid = next(counted, 0), fields["invalid"]
        errors = fields.get("errors", 0)
        verdicts = self._metrics.verdicts
        self._valid.inc(total - invalid - errors)
        verdicts.labels(self._name, "invalid").inc(invalid)
        verdicts.labels(self._name, "error").inc(errors)
