"""Metrics of calls, with the usual names for gRPC servers, and of verdicts.

The names of the former are from https://github.com/grpc-ecosystem/go-grpc-middleware,
providers/prometheus. No label has a value of a request.

Only the event loop changes the counts, which are plain numbers and become metrics at a scrape.
Counters of prometheus_client use locks, and would take several times as long.
"""

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Any, Final

import grpc
from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.evaluate import DISAGREEMENT
from sidecheck_server.rpc.access_log import gives_verdicts
from sidecheck_server.rpc.method_table import Method
from sidecheck_server.rpc.metric_table import counters, histogram

__all__ = ["CallMetrics", "MethodMetrics"]

_BOUNDS: Final = (
    *(0.0001, 0.0003, 0.0006, 0.001, 0.003, 0.006),
    *(0.01, 0.03, 0.06, 0.1, 0.3, 0.6, 1.0, 3.0, 6.0, 10.0),
)
"""Bounds of the buckets, in seconds; a small call takes a quarter of a millisecond."""

_BUCKETS: Final = (*map(str, _BOUNDS), "+Inf")

_GO_SPELLINGS: Final[Mapping[str, str]] = MappingProxyType({"OK": "OK", "CANCELLED": "Canceled"})

_CODES: Final[Mapping[int, str]] = {
    code.value[0]: _GO_SPELLINGS.get(code.name) or code.name.title().replace("_", "")
    for code in grpc.StatusCode
}
"""Names of the status codes as in Go, which dashboards expect."""

_INTERNAL: Final = "INTERNAL"

_NO_REASONS: Final[Mapping[str, int]] = MappingProxyType({})


class CallMetrics(Collector):
    """The metrics of all methods."""

    def __init__(self) -> None:
        #: Registry with these metrics; servers add others to it.
        self.registry: Final = CollectorRegistry()
        self.registry.register(self)
        self._methods: dict[tuple[str, str], MethodMetrics] = {}

    def of(self, method: Method) -> "MethodMetrics":
        """Return the metrics of *method*, which all transports share."""
        key = (method.service, method.name)
        if key not in self._methods:
            self._methods[key] = MethodMetrics(method)
        return self._methods[key]

    def of_path(self, path: str) -> "MethodMetrics | None":
        """Return the metrics of the method *path*, or None if it is not served."""
        service, _, name = path.partition("/")
        return self._methods.get((service, name))

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        methods = self._methods.values()
        for name, values in (
            ("started", {method.labels: method.started for method in methods}),
            ("msg_received", {method.labels: method.received for method in methods}),
            ("msg_sent", {method.labels: method.sent for method in methods}),
        ):
            yield counters(f"grpc_server_{name}_total", values)
        handled = {
            (*method.labels, _CODES.get(code, "Unknown")): count
            for method in methods
            for code, count in method.handled.items()
        }
        yield counters("grpc_server_handled_total", handled)
        seconds = histogram("grpc_server_handling_seconds")
        for method in methods:
            buckets = list(zip(_BUCKETS, accumulate(method.buckets), strict=True))
            seconds.add_metric(method.labels, buckets, method.seconds)
        yield seconds
        verdicts: Counter[tuple[str, ...]] = Counter()
        errors: Counter[tuple[str, ...]] = Counter()
        violations: Counter[tuple[str, ...]] = Counter({(DISAGREEMENT,): 0})
        for method in methods:
            name = method.labels[-1]
            verdicts.update({(name, outcome): n for outcome, n in method.verdicts.items()})
            errors.update({(name, reason): n for reason, n in method.errors.items()})
            violations.update({(code,): n for code, n in method.violations.items()})
        yield counters("sidecheck_verdicts_total", verdicts)
        yield counters("sidecheck_errors_total", errors)
        yield counters("sidecheck_violations_total", violations)


class MethodMetrics:
    """The metrics of one method. Series begin at zero, for correct rates."""

    __slots__ = (
        *("buckets", "errors", "handled", "labels", "received", "seconds", "sent", "started"),
        *("verdicts", "violations"),
    )

    def __init__(self, method: Method) -> None:
        self.labels: Final[tuple[str, ...]] = (method.kind.value, method.service, method.name)
        self.started = 0
        #: Numbers of ended calls, by status code.
        self.handled: Final = Counter({0: 0})
        #: Numbers of messages.
        self.received = self.sent = 0
        #: Numbers of calls by duration, and the sum of all durations.
        self.buckets: Final = [0] * len(_BUCKETS)
        self.seconds = 0.0
        has_verdicts = gives_verdicts(method.response_type)
        outcomes = ("valid", "invalid", "error") if has_verdicts else ()
        self.verdicts: Final[dict[str, int]] = dict.fromkeys(outcomes, 0)
        #: Numbers of failed calls and items, by reason.
        self.errors: Final = Counter({_INTERNAL: 0})
        self.violations: Final[Counter[str]] = Counter()

    def begin(self) -> float:
        """Count the start of a call, and return its time for `end`."""
        self.started += 1
        return time.perf_counter()

    def end(self, code: int, started_at: float) -> None:
        """Count the end, with the status *code*, of the call that began at *started_at*."""
        seconds = time.perf_counter() - started_at
        self.seconds += seconds
        self.buckets[bisect_left(_BOUNDS, seconds)] += 1
        self.handled[code] += 1

    def observe(
        self,
        fields: Mapping[str, Any],
        codes: Mapping[str, int],
        reasons: Mapping[str, int] = _NO_REASONS,
    ) -> None:
        """Count the verdicts in the log *fields* of a response.

        *codes* are the codes of their violations, *reasons* those of items without a verdict.
        """
        outcome = fields.get("outcome")
        if outcome is not None:
            self.verdicts[outcome] += 1
        elif "invalid" in fields:
            self._observe_many(fields)
        if codes:
            self.violations.update(codes)
        if reasons:
            self.errors.update(reasons)

    def observe_error(self, reason: ErrorReason | None) -> None:
        """Count a call that failed for *reason*; None stands for an unexpected exception."""
        self.errors[_INTERNAL if reason is None else reason.value] += 1

    def _observe_many(self, fields: Mapping[str, Any]) -> None:
        """Count the verdicts of a response with several."""
        counted = (fields[name] for name in ("items", "tools", "names") if name in fields)
        total, invalid = next(counted, 0), fields["invalid"]
        errors = fields.get("errors", 0)
        self.verdicts["valid"] += total - invalid - errors
        self.verdicts["invalid"] += invalid
        self.verdicts["error"] += errors
