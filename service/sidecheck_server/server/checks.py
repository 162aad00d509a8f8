"""Composition root of the checks in the process of a proxy."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from sidecheck_server.config.check_settings import CheckSettings
from sidecheck_server.core.limits import Limits
from sidecheck_server.proxy.checks.local import LocalChecks
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.check_services import ServiceOptions, create_check_services
from sidecheck_server.workers.events import WorkerEvent
from sidecheck_server.workers.tasks import RunTask, Task, ignore_begin
from sidecheck_server.workers.workers import Workers

__all__ = ["running_checks"]

_Result = TypeVar("_Result")


@contextmanager
def running_checks(
    settings: CheckSettings, configure_log: Callable[[], None], *, hide_values: bool = False
) -> Iterator[LocalChecks]:
    """Run the services of checks in this process; yield their checks.

    The first task that needs a worker process starts it. *configure_log* is called before each
    event of the log. *hide_values* is the argument of `LocalChecks`.
    """

    def log_worker_event(event: WorkerEvent) -> None:
        configure_log()
        from sidecheck_server.server.worker_log import log_worker_event  # noqa: PLC0415

        log_worker_event(event)

    def log_failure(error: Exception, method: str) -> str:
        configure_log()
        from sidecheck_server.rpc.handler import log_failure  # noqa: PLC0415

        return log_failure(error, method)

    limits = settings.limits
    with ExitStack() as stack:
        # The proxy registers nothing.
        registry = open_registry(None, RegistryQuotas())
        stack.callback(registry.close)
        workers = Workers(1, limits, on_demand=True)
        stack.callback(workers.close)
        workers.subscribe(log_worker_event)
        services = create_check_services(
            registry,
            workers.run,
            limits,
            ServiceOptions(settings.memory_bytes, protocol_version=settings.protocol_version),
            run_for_protocol=_run_in_thread(limits),
        )
        yield LocalChecks(services, limits, log_failure=log_failure, hide_values=hide_values)


def _run_in_thread(limits: Limits) -> RunTask:
    """Return a function that runs tasks in a thread of this process.

    A worker process would take twenty times as long to start as the schema of a type of the
    protocol takes to compile, and the protocol's schemas need no limits.
    """

    async def run(task: Task[_Result], on_begin: Callable[[], None] = ignore_begin) -> _Result:
        on_begin()
        return await asyncio.to_thread(task.execute, limits)

    return run
