"""Metrics of the state of the server, read when somebody asks for them."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from sidecheck_server.registry import Registry
from sidecheck_server.rpc.server import Server
from sidecheck_server.services.container import Services
from sidecheck_server.workers import WorkerDied, WorkerEvent, WorkerRestarted, Workers

__all__ = ["StateCollector"]

_PREFIX = "sidecheck_"


class StateCollector(Collector):
    """Collects what *server*, *services*, *workers* and *registry* are doing."""

    def __init__(
        self, server: Server, services: Services, workers: Workers, registry: Registry
    ) -> None:
        self._server = server
        self._services = services
        self._workers = workers
        self._registry = registry
        self._died: Counter[str] = Counter()
        self._restarted = 0
        workers.subscribe(self._count)

    def _count(self, event: WorkerEvent) -> None:
        match event:
            case WorkerDied(cause):
                self._died[cause.value] += 1
            case WorkerRestarted():
                self._restarted += 1
            case _:
                pass

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        yield from self._transport()
        yield from self._caches()
        yield from self._processes()
        yield _gauge("registry_tools", "Tools that are registered.", self._registry.count())
        certificates = self._server.certificates
        if certificates is not None:
            yield _gauge(
                "certificate_not_after_timestamp_seconds",
                "When the certificate in use expires, or one between it and its authority.",
                certificates.not_after,
            )
            failed = CounterMetricFamily(
                f"{_PREFIX}certificate_reload_errors", "Changed files of TLS that are unusable."
            )
            failed.add_metric([], certificates.failed_reloads)
            yield failed
        yield _gauge("registry_revision", "Revision of the registry.", self._registry.revision)

    def _transport(self) -> Iterator[Metric]:
        admission, streams = self._server.admission, self._server.streams
        lag = admission.lag.seconds
        yield _gauge("event_loop_lag_seconds", "How far the event loop lags behind.", lag)
        yield _gauge("calls_active", "Unary calls that are worked on.", admission.active)
        open_streams = GaugeMetricFamily(
            f"{_PREFIX}streams_open", "Streams that are open, by kind.", labels=["kind"]
        )
        for kind in ("streams", "sessions", "gateway_streams"):
            open_streams.add_metric([kind], streams.open_by_kind.get(kind, 0))
        yield open_streams
        held = GaugeMetricFamily(
            f"{_PREFIX}bytes_in_flight", "Bytes of large messages that are held.", labels=["of"]
        )
        for direction, size in admission.bytes_held.items():
            held.add_metric([direction], size)
        yield held
        shed = CounterMetricFamily(
            f"{_PREFIX}shed", "Calls and streams shed with OVERLOADED, by bound.", labels=["bound"]
        )
        for bound, count in admission.shed.items():
            shed.add_metric([bound], count)
        yield shed

    def _caches(self) -> Iterator[Metric]:
        hits = _counters("cache_hits", "Lookups that found an entry.")
        misses = _counters("cache_misses", "Lookups that found none.")
        evictions = _counters("cache_evictions", "Entries dropped for room.")
        size = GaugeMetricFamily(
            f"{_PREFIX}cache_bytes", "Bytes that the entries take.", labels=["cache"]
        )
        for name, cache in self._services.schemas.caches.items():
            hits.add_metric([f"{name}_schemas"], cache.hits)
            misses.add_metric([f"{name}_schemas"], cache.misses)
            evictions.add_metric([f"{name}_schemas"], cache.dropped)
            size.add_metric([f"{name}_schemas"], cache.weight)
        prepared = self._services.prepared_targets
        hits.add_metric(["prepared_targets"], prepared.hits)
        misses.add_metric(["prepared_targets"], prepared.misses)
        yield from (hits, misses, evictions, size)

    def _processes(self) -> Iterator[Metric]:
        workers = self._workers
        yield _gauge("workers_alive", "Worker processes that can run tasks.", workers.alive)
        yield _gauge("worker_tasks_active", "Tasks that workers have.", workers.busy)
        size = workers.resident_bytes()
        yield _gauge("workers_resident_bytes", "Memory of all worker processes in use.", size)
        restarted = CounterMetricFamily(
            f"{_PREFIX}workers_restarted", "Worker processes started in place of ended ones."
        )
        restarted.add_metric([], self._restarted)
        yield restarted
        died = CounterMetricFamily(
            f"{_PREFIX}workers_ended", "Worker processes that ended, by cause.", labels=["cause"]
        )
        for cause, count in self._died.items():
            died.add_metric([cause], count)
        yield died
        tasks = CounterMetricFamily(
            f"{_PREFIX}worker_tasks", "Tasks given to workers, by their work.", labels=["task"]
        )
        seconds = CounterMetricFamily(
            f"{_PREFIX}worker_task_seconds", "Time that these tasks took.", labels=["task"]
        )
        for task, count in workers.tasks.items():
            tasks.add_metric([task], count)
            seconds.add_metric([task], workers.task_seconds[task])
        yield from (tasks, seconds)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(_PREFIX + name, text, value=value)


def _counters(name: str, text: str) -> CounterMetricFamily:
    return CounterMetricFamily(_PREFIX + name, text, labels=["cache"])
