"""Metrics of the state of the server, collected at each scrape."""

from collections import Counter
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Protocol

from prometheus_client import CollectorRegistry, GCCollector, Metric, ProcessCollector
from prometheus_client.registry import Collector

from sidecheck_server import __version__
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.metric_table import METRICS, counters, gauges
from sidecheck_server.rpc.servicers import ServedMethods
from sidecheck_server.rpc.tls import ServerCertificates
from sidecheck_server.services.cache import Cache
from sidecheck_server.services.container import Services
from sidecheck_server.services.registration import RegistryWriter
from sidecheck_server.workers import (
    EndCause,
    WorkerDied,
    WorkerEvent,
    WorkerRestarted,
    Workers,
    WorkerStartFailed,
)
from sidecheck_server.workers.tasks import KINDS

__all__ = ["FleetCollector", "LoadCollector", "SharedCollector", "register_process"]

_BOUNDS: Final = (
    *("calls", "loop_lag_milliseconds", "deadline", "arriving"),
    *("bytes_in_flight", "streams", "sessions", "gateway_streams"),
)
"""The limits by which calls and streams are shed."""

_STREAMS: Final = ("streams", "sessions", "gateway_streams")


def register_process(registry: CollectorRegistry, collector: Collector) -> None:
    """Add *collector* and the standard process collectors to *registry*."""
    registry.register(collector)
    ProcessCollector(registry=registry)
    GCCollector(registry=registry)


class LoadCollector(Collector):
    """Collector for the calls and caches in this process.

    All series exist from the start, so that rates are correct from the first increment on.
    """

    def __init__(
        self,
        served: ServedMethods,
        services: Services,
        certificates: ServerCertificates | None,
        caches: Mapping[str, Cache[Any, Any]] = MappingProxyType({}),
    ) -> None:
        """Create the collector; *caches* are further caches of the process."""
        self._served = served
        self._prepared = services.prepared_targets
        self._certificates = certificates
        self._named_caches = {**services.caches, **caches}

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._load()
        yield from self._caches()
        yield _by_label("sidecheck_build_info", {__version__: 1})
        not_after: dict[tuple[str, ...], float] = {}
        failed: dict[tuple[str, ...], float] = {}
        if self._certificates is not None:
            not_after[()] = self._certificates.not_after
            failed[()] = self._certificates.failed_reloads
        yield _family("sidecheck_certificate_not_after_timestamp_seconds", not_after)
        yield _family("sidecheck_certificate_reload_errors_total", failed)

    def _load(self) -> Iterator[Metric]:
        admission, streams = self._served.admission, self._served.streams
        yield _without_labels("sidecheck_event_loop_lag_seconds", admission.lag.seconds)
        yield _without_labels("sidecheck_calls_active", admission.active)
        yield _without_labels("sidecheck_messages_awaited", admission.receiving)
        kinds = {kind: streams.open_by_kind.get(kind, 0) for kind in _STREAMS}
        yield _by_label("sidecheck_streams_open", kinds)
        yield _by_label("sidecheck_in_flight_bytes", admission.bytes_held)
        shed = {**dict.fromkeys(_BOUNDS, 0), **admission.shed}
        yield _by_label("sidecheck_shed_total", shed)

    def _caches(self) -> Iterator[Metric]:
        caches = self._named_caches
        values = {name: cache.hits for name, cache in caches.items()}
        yield _by_label("sidecheck_cache_hits_total", values)
        values = {name: cache.misses for name, cache in caches.items()}
        yield _by_label("sidecheck_cache_misses_total", values)
        values = {name: cache.dropped for name, cache in caches.items()}
        yield _by_label("sidecheck_cache_evictions_total", values)
        values = {name: cache.weight for name, cache in caches.items()}
        yield _by_label("sidecheck_cache_bytes", values)
        values = {name: cache.capacity for name, cache in caches.items() if cache.capacity}
        yield _by_label("sidecheck_cache_capacity_bytes", values)
        prepared = self._prepared
        yield _without_labels("sidecheck_prepared_target_hits_total", prepared.hits)
        yield _without_labels("sidecheck_prepared_target_misses_total", prepared.misses)


class SharedCollector(Collector):
    """Collector for the parts that all processes share: the workers and the registry."""

    def __init__(self, workers: Workers, registry: Registry, writer: RegistryWriter) -> None:
        self._workers = workers
        self._registry = registry
        self._writer = writer
        self._ended = Counter({cause.value: 0 for cause in EndCause})
        self._start_failures = self._ended.copy()
        self._restarted = 0
        workers.subscribe(self._count)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._processes()
        yield _without_labels("sidecheck_registry_tools", self._registry.count())
        yield _without_labels("sidecheck_registry_revision", self._registry.revision)
        yield _without_labels("sidecheck_registry_age_seconds", self._registry.age_seconds)
        yield _without_labels("sidecheck_registry_reloads_total", self._registry.reloads)
        yield _without_labels("sidecheck_registry_writable", self._writer.is_writable)

    def _count(self, event: WorkerEvent) -> None:
        match event:
            case WorkerDied(cause):
                self._ended[cause.value] += 1
            case WorkerStartFailed(cause):
                self._start_failures[cause.value] += 1
            case WorkerRestarted():
                self._restarted += 1

    def _processes(self) -> Iterator[Metric]:
        workers = self._workers
        yield _without_labels("sidecheck_workers", workers.count)
        yield _without_labels("sidecheck_workers_alive", workers.alive)
        yield _without_labels("sidecheck_workers_resident_memory_bytes", workers.resident_bytes())
        yield _by_label("sidecheck_workers_ended_total", self._ended)
        yield _without_labels("sidecheck_workers_restarted_total", self._restarted)
        yield _by_label("sidecheck_worker_start_failures_total", self._start_failures)
        yield _without_labels("sidecheck_worker_tasks_active", workers.busy)
        yield _without_labels("sidecheck_worker_tasks_waiting", workers.waiting)
        tasks = dict.fromkeys((kind.name for kind in KINDS), 0)
        yield _by_label("sidecheck_worker_tasks_total", {**tasks, **workers.tasks})
        yield _by_label("sidecheck_worker_task_seconds_total", {**tasks, **workers.task_seconds})


class _Fleet(Protocol):
    """Numbers of intended, serving and ended processes."""

    @property
    def count(self) -> int: ...
    @property
    def alive(self) -> int: ...
    @property
    def ended(self) -> int: ...


class FleetCollector(Collector):
    """Collector for the numbers of serving processes; None for a single process."""

    def __init__(self, fleet: _Fleet | None) -> None:
        self._fleet = fleet

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        fleet = self._fleet
        count, alive, ended = (fleet.count, fleet.alive, fleet.ended) if fleet else (1, 1, 0)
        yield _without_labels("sidecheck_processes", count)
        yield _without_labels("sidecheck_processes_alive", alive)
        yield _without_labels("sidecheck_processes_ended_total", ended)


def _without_labels(name: str, value: float) -> Metric:
    """Return the metric *name*, which has no labels."""
    return _family(name, {(): value})


def _by_label(name: str, values: Mapping[str, float]) -> Metric:
    """Return the metric *name* with one label, and *values* by that label."""
    return _family(name, {(label,): value for label, value in values.items()})


def _family(name: str, values: Mapping[tuple[str, ...], float]) -> Metric:
    create = counters if METRICS[name].type == "counter" else gauges
    return create(name, values)
