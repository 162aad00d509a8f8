"""Metrics of calls: those of gRPC servers by their usual names, and verdicts.

https://github.com/grpc-ecosystem/go-grpc-middleware, providers/prometheus, names the former.
No label has a value of a request.
"""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import grpc
from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics

from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.metric_table import METRICS
from sidecheck_server.rpc.access_log import gives_verdicts
from sidecheck_server.rpc.method_table import Method

__all__ = ["CallMetrics", "MethodMetrics"]

_BUCKETS = (
    *(0.0001, 0.0003, 0.0006, 0.001, 0.003, 0.006),
    *(0.01, 0.03, 0.06, 0.1, 0.3, 0.6, 1.0, 3.0, 6.0, 10.0),
)
"""In seconds: a small call takes a quarter of a millisecond."""

_CODES: Final[Mapping[int, str]] = {code.value[0]: code.name for code in grpc.StatusCode}

_NO_REASONS: Final[Mapping[str, int]] = MappingProxyType({})

_Metric = TypeVar("_Metric", Counter, Histogram)


class CallMetrics:
    """The metrics of all methods."""

    def __init__(self) -> None:
        # The time at which each series began doubles the counters, and nobody reads it.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        #: All of them, and others that whoever serves them adds.
        self.registry: Final = CollectorRegistry()
        self.started: Final = self.create(Counter, "grpc_server_started_total")
        self.handled: Final = self.create(Counter, "grpc_server_handled_total")
        self.received: Final = self.create(Counter, "grpc_server_msg_received_total")
        self.sent: Final = self.create(Counter, "grpc_server_msg_sent_total")
        self.seconds: Final = self.create(
            Histogram, "grpc_server_handling_seconds", buckets=_BUCKETS
        )
        self.verdicts: Final = self.create(Counter, "sidecheck_verdicts_total")
        self.errors: Final = self.create(Counter, "sidecheck_errors_total")
        self.violations: Final = self.create(Counter, "sidecheck_violations_total")

    def create(self, kind: type[_Metric], name: str, **options: Any) -> _Metric:
        """Return the metric *name* of the table, of *kind* and with its *options*."""
        family = METRICS[name]
        return kind(name, family.meaning, tuple(family.labels), registry=self.registry, **options)

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
        if gives_verdicts(method.response_type):
            self._valid, self._invalid, self._error = (
                metrics.verdicts.labels(method.name, outcome)
                for outcome in ("valid", "invalid", "error")
            )
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

    def observe(
        self,
        fields: Mapping[str, Any],
        codes: Mapping[str, int],
        reasons: Mapping[str, int] = _NO_REASONS,
    ) -> None:
        """Count the verdicts that *fields* of the log tell of.

        *codes* are those of their violations, *reasons* those of items without a verdict.
        """
        outcome = fields.get("outcome")
        if outcome == "valid":
            self._valid.inc()
        elif outcome == "invalid":
            self._invalid.inc()
        elif "invalid" in fields:
            self._observe_many(fields)
        for code, count in codes.items():
            self._metrics.violations.labels(code).inc(count)
        for reason, count in reasons.items():
            self._metrics.errors.labels(self._name, reason).inc(count)

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Count a call that failed for *reason*, None if unexpected."""
        name = "INTERNAL" if reason is None else reason.value
        self._metrics.errors.labels(self._name, name).inc()

    def _observe_many(self, fields: Mapping[str, Any]) -> None:
        """Count the verdicts of a response with several."""
        counted = (fields[name] for name in ("items", "tools", "names") if name in fields)
        total, invalid = next(counted, 0), fields["invalid"]
        errors = fields.get("errors", 0)
        self._valid.inc(total - invalid - errors)
        self._invalid.inc(invalid)
        self._error.inc(errors)
