"""Table of the server's metrics: names, types, labels and meanings.

Collectors create their families from this table, and the documentation is generated from it.
Names follow https://prometheus.io/docs/practices/naming/.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)

from sidecheck_server.workers import EndCause
from sidecheck_server.workers.tasks import KINDS

__all__ = ["METRICS", "SECTIONS", "MetricFamily", "counters", "gauges", "histogram"]


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """Metrics of one name, with a series for each combination of labels."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    meaning: str
    #: The meanings of the labels, by name. The values of a label are a closed set.
    labels: Mapping[str, str] = field(default_factory=dict)


def _one_of(values: Iterable[str]) -> str:
    *first, last = (f"`{value}`" for value in values)
    return f"{', '.join(first)} or {last}"


_CALL: Mapping[str, str] = MappingProxyType(
    {
        "grpc_type": "`unary`, `server_stream` or `bidi_stream`",
        "grpc_service": "the full name of the service",
        "grpc_method": "the name of the method",
    }
)
_METHOD = "the name of the RPC method"
_CACHE = (
    "`registered_schemas`, `inline_schemas` or `protocol_schemas`, which are compiled; "
    "`inline_tools`; `adapted_tools`; `conversions`; `findings`; with several processes, the "
    "`artifacts` of compilation, which they share"
)
_CAUSE = f"{_one_of(cause.value for cause in EndCause)}, as in the log event `{{}}`"
_TASK = _one_of(kind.name for kind in KINDS)

_CALLS = (
    MetricFamily("grpc_server_started_total", "counter", "Calls that began.", _CALL),
    MetricFamily(
        "grpc_server_handled_total",
        "counter",
        "Calls that ended. A call that was cancelled when its deadline was due counts as "
        "`DeadlineExceeded`.",
        {**_CALL, "grpc_code": "the name of the status code, such as `OK` or `NotFound`"},
    ),
    MetricFamily("grpc_server_msg_received_total", "counter", "Messages received.", _CALL),
    MetricFamily("grpc_server_msg_sent_total", "counter", "Messages sent.", _CALL),
    MetricFamily(
        "grpc_server_handling_seconds",
        "histogram",
        "Time from the beginning of a call to its end, on the server.",
        _CALL,
    ),
)

_VERDICTS = (
    MetricFamily(
        "sidecheck_verdicts_total",
        "counter",
        "Verdicts: of calls, of items of batches and streams, of tools and names. Verdicts for "
        "gateways in the same process are included; `grpc_server_*` does not count them.",
        {
            "method": _METHOD,
            "outcome": "`valid`, `invalid`, or `error` for an item without a verdict",
        },
    ),
    MetricFamily(
        "sidecheck_errors_total",
        "counter",
        "Calls that failed, and items of batches and streams.",
        {"method": _METHOD, "reason": "the reason (`ErrorInfo`), `INTERNAL` for a fault"},
    ),
    MetricFamily(
        "sidecheck_violations_total",
        "counter",
        "Verdicts that have a violation of the code, warnings and advice included.",
        {"code": "the code of the violation"},
    ),
    MetricFamily(
        "sidecheck_gateway_exchanges_total",
        "counter",
        "Exchanges of gateways, by their outcome.",
        {
            "gateway": "`ext_proc` or `ext_mcp`",
            "verdict": "`valid`, `invalid`, `changed`, `unvalidated` or `rejected`, as in the "
            "log event `gateway.completed`; `failed` if the call failed",
        },
    ),
)

_LOAD = (
    MetricFamily(
        "sidecheck_event_loop_lag_seconds",
        "gauge",
        "Lag of the event loop: the minimum of the last four measurements, which are 50 "
        "milliseconds apart.",
    ),
    MetricFamily("sidecheck_calls_active", "gauge", "Unary calls in progress."),
    MetricFamily(
        "sidecheck_messages_awaited", "gauge", "Unary calls whose messages have not arrived."
    ),
    MetricFamily(
        "sidecheck_streams_open",
        "gauge",
        "Open streams.",
        {"kind": "`streams`, `sessions` (which `streams` includes) or `gateway_streams`"},
    ),
    MetricFamily(
        "sidecheck_in_flight_bytes",
        "gauge",
        "Bytes of large messages in memory (`transport.bytes_in_flight`).",
        {"direction": "`requests` or `responses`"},
    ),
    MetricFamily(
        "sidecheck_shed_total",
        "counter",
        "Calls and streams that were shed with `OVERLOADED`.",
        {
            "bound": "the setting of `transport` whose limit was reached; `deadline`, if the "
            "server could not meet it; or `arriving`, for a message that had not arrived"
        },
    ),
)

_CACHES = (
    MetricFamily(
        "sidecheck_cache_hits_total", "counter", "Lookups that found an entry.", {"cache": _CACHE}
    ),
    MetricFamily(
        "sidecheck_cache_misses_total",
        "counter",
        "Lookups that found no entry, so that it was computed.",
        {"cache": _CACHE},
    ),
    MetricFamily(
        "sidecheck_cache_evictions_total",
        "counter",
        "Entries that were evicted, or were larger than the cache.",
        {"cache": _CACHE},
    ),
    MetricFamily(
        "sidecheck_cache_bytes",
        "gauge",
        "Memory of the entries, in bytes; 0 for `protocol_schemas`, which are not weighed.",
        {"cache": _CACHE},
    ),
    MetricFamily(
        "sidecheck_cache_capacity_bytes",
        "gauge",
        "Maximum memory of the entries, in bytes: a share of `memory_bytes`.",
        {"cache": _CACHE},
    ),
    MetricFamily(
        "sidecheck_prepared_target_hits_total",
        "counter",
        "Validation requests whose target and options were prepared.",
    ),
    MetricFamily(
        "sidecheck_prepared_target_misses_total",
        "counter",
        "Validation requests whose target and options had to be prepared.",
    ),
)

_PROCESSES = (
    MetricFamily("sidecheck_processes", "gauge", "Configured serving processes."),
    MetricFamily("sidecheck_processes_alive", "gauge", "Serving processes that accept calls."),
    MetricFamily(
        "sidecheck_processes_ended_total",
        "counter",
        "Serving processes that died or were killed (`process.died`, `process.stalled`).",
    ),
)

_WORKERS = (
    MetricFamily("sidecheck_workers", "gauge", "Configured worker processes."),
    MetricFamily("sidecheck_workers_alive", "gauge", "Worker processes that can run tasks."),
    MetricFamily(
        "sidecheck_workers_resident_memory_bytes",
        "gauge",
        "Resident memory of all worker processes; 0 where the system does not report it.",
    ),
    MetricFamily(
        "sidecheck_workers_ended_total",
        "counter",
        "Worker processes that ended; `time`, `stalled` and `unresponsive` were killed.",
        {"cause": _CAUSE.format("worker.died")},
    ),
    MetricFamily(
        "sidecheck_workers_restarted_total",
        "counter",
        "Worker processes that replaced ended ones and became ready.",
    ),
    MetricFamily(
        "sidecheck_worker_start_failures_total",
        "counter",
        "Worker processes that could not be started.",
        {"cause": _CAUSE.format("worker.start_failed")},
    ),
    MetricFamily("sidecheck_worker_tasks_active", "gauge", "Tasks that workers execute."),
    MetricFamily(
        "sidecheck_worker_tasks_waiting", "gauge", "Tasks that wait for their turn in a worker."
    ),
    MetricFamily(
        "sidecheck_worker_tasks_total",
        "counter",
        "Tasks that ended in a worker, with or without a result.",
        {"task": _TASK},
    ),
    MetricFamily(
        "sidecheck_worker_task_seconds_total",
        "counter",
        "Total time of tasks that ended in a worker.",
        {"task": _TASK},
    ),
)

_REGISTRY = (
    MetricFamily("sidecheck_registry_tools", "gauge", "Registered tools."),
    MetricFamily(
        "sidecheck_registry_revision",
        "gauge",
        "Revision of the registry, which every change increments.",
    ),
    MetricFamily(
        "sidecheck_registry_age_seconds",
        "gauge",
        "Time since the registry in memory was known to be current: up to a second or so for one "
        "on PostgreSQL, 0 for one in memory or in a file, which no other process changes.",
    ),
    MetricFamily(
        "sidecheck_registry_reloads_total",
        "counter",
        "Full reloads of the registry after the start (`registry.reloaded`).",
    ),
    MetricFamily(
        "sidecheck_registry_writable",
        "gauge",
        "1, or 0 from a failed registration or deletion until one succeeds (`registry.unusable`).",
    ),
    MetricFamily(
        "sidecheck_certificate_not_after_timestamp_seconds",
        "gauge",
        "Earliest expiry of the certificate in use and its intermediates. Only with TLS.",
    ),
    MetricFamily(
        "sidecheck_certificate_reload_errors_total",
        "counter",
        "Changes of the TLS files that could not be used (`tls.reload_failed`). Only with TLS.",
    ),
    MetricFamily(
        "sidecheck_build_info",
        "gauge",
        "1, with the release as a label.",
        {"version": "the version of the server"},
    ),
)

SECTIONS: Mapping[str, Sequence[MetricFamily]] = MappingProxyType(
    {
        "Calls": _CALLS,
        "Verdicts": _VERDICTS,
        "Load": _LOAD,
        "Caches": _CACHES,
        "Workers": _WORKERS,
        "Processes": _PROCESSES,
        "Registry and build": _REGISTRY,
    }
)
"""All metrics that the server defines, by subject."""

METRICS: Mapping[str, MetricFamily] = MappingProxyType(
    {family.name: family for families in SECTIONS.values() for family in families}
)
"""All metrics that the server defines, by name."""


def counters(name: str, values: Mapping[tuple[str, ...], float]) -> CounterMetricFamily:
    """Return the counters of *name* with *values*, by the values of their labels."""
    metric = CounterMetricFamily(name, METRICS[name].meaning, labels=tuple(METRICS[name].labels))
    for labels, value in values.items():
        metric.add_metric(labels, value)
    return metric


def gauges(name: str, values: Mapping[tuple[str, ...], float]) -> GaugeMetricFamily:
    """Return the gauges of *name* with *values*, by the values of their labels."""
    metric = GaugeMetricFamily(name, METRICS[name].meaning, labels=tuple(METRICS[name].labels))
    for labels, value in values.items():
        metric.add_metric(labels, value)
    return metric


def histogram(name: str) -> HistogramMetricFamily:
    """Return the histogram *name*, without values."""
    return HistogramMetricFamily(name, METRICS[name].meaning, labels=tuple(METRICS[name].labels))
