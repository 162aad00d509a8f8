"""Fleet: the serving processes of one address, under supervision."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

import structlog
from prometheus_client import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from sidecheck_server.config.settings import Settings
from sidecheck_server.registry import Expected, Registry
from sidecheck_server.registry.definitions import (
    Change,
    Definition,
    RegistrationResult,
    RemovalResult,
)
from sidecheck_server.rpc.server import report_ready
from sidecheck_server.rpc.servicers import ServedMethods
from sidecheck_server.rpc.shutdown import Shutdown
from sidecheck_server.rpc.sockets import clear_unix, remove_socket, reserve_tcp
from sidecheck_server.server.processes.forwarded_tasks import SharedWorkers
from sidecheck_server.server.processes.launcher import Launcher, ProcessStartError
from sidecheck_server.server.processes.serving_process import BEAT_SECONDS, ServingProcess
from sidecheck_server.services.change_log import ChangeLog

__all__ = [
    "Fleet",
    "MetricsByProcess",
]


class MetricsByProcess(Collector):
    """Collector of the *metrics* of several processes, with one family for each name.

    Metrics are not summed, since a sum of counters would decrease when a process ends.
    """

    def __init__(self, metrics: Mapping[int, Sequence[Metric]]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, with the label `process`."""
        families: dict[str, Metric] = {}
        for number, metrics in self._metrics.items():
            for metric in metrics:
                family = families.setdefault(
                    metric.name, Metric(metric.name, metric.documentation, metric.type, metric.unit)
                )
                family.samples += [_add_process_label(sample, number) for sample in metric.samples]
        yield from families.values()


def _add_process_label(sample: Sample, number: int) -> Sample:
    return sample._replace(labels={**sample.labels, "process": str(number)})


_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 5.0
"""Minimum and maximum seconds between attempts to start a process; each doubles the pause."""

_APPLY_SECONDS = 1.0
"""Maximum seconds for which a write waits until the processes have applied its change."""

_COLLECT_SECONDS = 2.0
"""Maximum seconds for a process to return its metrics."""

_log = structlog.get_logger("sidecheck.server")


# Decision 0070: the first process has the shared state and does not serve gRPC.
class Fleet:
    """Serves methods over gRPC by several processes, until it is stopped.

    *launcher* starts them. They use the *registry* and the *workers* of this process. *served* are
    the methods that this process serves over transports other than gRPC. *changes* is the change
    log of the registry.
    """

    def __init__(
        self,
        settings: Settings,
        served: ServedMethods,
        registry: Registry,
        changes: ChangeLog,
        workers: SharedWorkers,
        launcher: Launcher,
    ) -> None:
        self._settings = settings
        self._launcher = launcher
        self._served = served
        self._registry = registry
        self._changes = changes
        self._workers = workers
        self._shutdown = Shutdown(settings, served)
        self._loop = asyncio.get_running_loop()
        self._reserved = ExitStack()
        self._workers_alive = 0
        #: Running processes by number, including those that are starting.
        self._processes: dict[int, ServingProcess] = {}
        #: Numbers of the processes that accept calls.
        self._serving: set[int] = set()
        self._keepers: list[asyncio.Task[None]] = []
        #: Changes that processes have not applied yet.
        self._applying: set[asyncio.Future[None]] = set()
        #: Number of processes that died, or were killed because they stalled.
        self.ended = 0
        self.addresses: list[str] = []
        self.is_abandoned = False

    @property
    def count(self) -> int:
        """Configured number of processes."""
        return self._settings.processes

    @property
    def alive(self) -> int:
        """Number of processes that accept calls."""
        return len(self._serving)

    async def start(self) -> None:
        """Reserve the address, and return when all processes accept calls.

        Raises:
            AddressInUseError: the address is in use.
            ProcessStartError: a process cannot start.
        """
        if self._settings.listen:
            address = self._reserved.enter_context(reserve_tcp(self._settings.listen))
            self.addresses.append(address)
            self._settings = self._settings.model_copy(update={"listen": address})
        if self._settings.unix_socket is not None:
            self.addresses.append(clear_unix(self._settings.unix_socket))
        self._registry.subscribe(self._publish_soon)
        numbers = range(1, self.count + 1)
        try:
            async with asyncio.TaskGroup() as starting:
                for number in numbers:
                    starting.create_task(self._start(number))
        except* ProcessStartError as errors:
            await self._kill_all()
            raise ProcessStartError(str(errors.exceptions[0])) from None
        self._served.admission.start()
        self._keepers = [asyncio.create_task(self._keep(number)) for number in numbers]
        self._keepers.append(asyncio.create_task(self._watch()))

    def report_ready(self) -> None:
        """Report in health and log that the server is serving."""
        self._served.health.set_serving(serving=True)
        report_ready(self._settings, self.addresses)

    def report_workers(self, alive: int) -> None:
        """Report in the health of all processes whether any worker process is *alive*."""
        self._workers_alive = alive
        self._served.report_workers(alive)
        for process in self._processes.values():
            process.report_workers(alive)

    async def collect(self) -> dict[int, list[Metric]]:
        """Return the metrics of the processes that respond in time, by process number."""
        processes = tuple(self._processes.values())
        tasks = {process.number: asyncio.create_task(process.collect()) for process in processes}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=_COLLECT_SECONDS)
        for task in tasks.values():
            task.cancel()
        return {number: task.result() for number, task in tasks.items() if task.done()}

    def await_followers(self, _revision: int) -> None:
        """Wait in a thread until all processes have applied all changes."""
        asyncio.run_coroutine_threadsafe(self._apply(), self._loop).result()

    async def stop(self) -> None:
        """Stop all processes within the configured periods; kill the remaining ones."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for process in self._processes.values():
            process.stop()
        await self._shutdown.run(self._end_when_idle, self._kill_all)
        await self._kill_all()
        if self._settings.unix_socket is not None:
            remove_socket(self._settings.unix_socket)
        self._reserved.close()
        _log.info("server.stopped")

    def hurry(self) -> None:
        """Make `stop` skip the rest of the drain period, and shorten the grace period."""
        self._shutdown.hurry()
        for process in self._processes.values():
            process.hurry()

    async def _keep(self, number: int) -> None:
        """Restart the process *number* whenever it ends."""
        while True:
            process = self._processes[number]
            exit_text = await process.wait()
            self._serving.discard(number)
            self._served.health.set_serving(serving=self.alive > 0)
            self.ended += 1
            if process.stall is None:
                _log.error("process.died", number=number, exit=exit_text, alive=self.alive)
            else:
                _log.error("process.stalled", number=number, cause=process.stall, alive=self.alive)
            await self._processes.pop(number).kill()
            pause = _FIRST_PAUSE
            while number not in self._serving:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                try:
                    await self._start(number)
                except ProcessStartError as error:
                    _log.error(
                        "process.start_failed",
                        number=number,
                        detail=str(error),
                        retry_seconds=pause,
                    )
            self._served.health.set_serving(serving=True)
            _log.info("process.restarted", number=number, alive=self.alive)

    async def _watch(self) -> None:
        """Kill processes that stall; `_keep` restarts them."""
        checked_at = time.monotonic()
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            now = time.monotonic()
            # If this process was stopped, the others may have been stopped as well, so that
            # earlier checks say nothing about them.
            was_paused = now - checked_at > 2 * BEAT_SECONDS
            checked_at = now
            for number in self._serving:
                self._processes[number].check(reset=was_paused)

    async def _start(self, number: int) -> None:
        process = await ServingProcess.spawn(
            number,
            self._settings,
            self._launcher,
            {
                "run": self._workers.run_for,
                "register": self._register,
                "delete": self._delete,
            },
        )
        self._processes[number] = process
        try:
            await process.serve(
                self._settings,
                self._registry,
                self._changes.history,
                lambda: self._workers_alive,
            )
        except BaseException:
            del self._processes[number]
            await process.kill()
            raise
        self._serving.add(number)

    async def _register(
        self,
        server: str,
        definitions: Sequence[Definition],
        keep: frozenset[str] | None,
        expected: Expected,
    ) -> RegistrationResult:
        registered = await asyncio.to_thread(
            self._registry.register, server, definitions, keep=keep, expected=expected
        )
        await self._apply()
        return registered

    async def _delete(self, server: str, names: Sequence[str] | None) -> RemovalResult:
        deleted = await asyncio.to_thread(self._registry.delete, server, names)
        await self._apply()
        return deleted

    def _publish_soon(self, change: Change) -> None:
        """Publish *change* in the event loop; called in any thread."""
        self._loop.call_soon_threadsafe(self._publish, change)

    def _publish(self, change: Change) -> None:
        for process in self._processes.values():
            applied = process.publish(change)
            if applied is not None:
                self._applying.add(applied)
                applied.add_done_callback(self._finish_applying)

    def _finish_applying(self, applied: "asyncio.Future[None]") -> None:
        self._applying.discard(applied)
        # Mark the exception as retrieved: a process that has ended needs no change, and
        # `_keep` logs its end.
        if not applied.cancelled():
            applied.exception()

    async def _apply(self) -> None:
        """Wait until all processes have applied the published changes, for up to a second."""
        if self._applying:
            await asyncio.wait(set(self._applying), timeout=_APPLY_SECONDS)

    async def _end_when_idle(self) -> None:
        await asyncio.gather(*(process.wait() for process in self._processes.values()))

    async def _kill_all(self) -> None:
        processes, self._processes = self._processes, {}
        self._serving.clear()
        await asyncio.gather(*(process.kill() for process in processes.values()))
