"""Runs the services of the server in the process of a command."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import fields, replace
from typing import TypeVar

import click

from sidecheck_server.core.limits import Limits
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.container import ServiceOptions, Services, create_services
from sidecheck_server.workers import WorkerStartError
from sidecheck_server.workers.tasks import Task, ignore_begin
from sidecheck_server.workers.workers import Workers

__all__ = ["LIMITS", "InProcessWorker", "run_in_process"]

_TaskResult = TypeVar("_TaskResult")

_WAIT_SECONDS = 60
"""Maximum seconds that a task waits for a new process after a crash."""


class InProcessWorker:
    """Runs tasks in this process, or in a worker process if they need one.

    The first task that needs a worker process starts it. In this process, limits in steps and
    bytes apply, and limits in seconds and memory do not, as those require a killable process.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._workers: Workers | None = None
        self._starting: asyncio.Task[None] | None = None

    async def run(
        self, task: Task[_TaskResult], on_begin: Callable[[], None] = ignore_begin
    ) -> _TaskResult:
        """Return the result of *task*; *on_begin* is called when it starts.

        Raises:
            RequestError: as `Task.execute`; of a task that needs a process, as `Workers.run`.
            WorkerStartError: no process can be started.
        """
        if not task.needs_process:
            on_begin()
            return task.execute(self._limits)
        if self._workers is None or self._starting is None:
            limits = replace(self._limits, worker_wait_seconds=_WAIT_SECONDS)
            self._workers = Workers(1, limits)
            self._starting = asyncio.create_task(self._workers.start())
        # The cancellation of one task must not cancel the start for the others.
        await asyncio.shield(self._starting)
        return await self._workers.run(task, on_begin)

    def close(self) -> None:
        """Stop the worker process, if there is one."""
        if self._workers is not None:
            self._workers.close()


_Result = TypeVar("_Result")

_UNBOUNDED = 1 << 40

LIMITS = Limits(message_bytes=_UNBOUNDED, batch_items=_UNBOUNDED)
"""Limits of a command: those of a server, without a limit for the size of a request."""

_QUOTAS = RegistryQuotas(*[_UNBOUNDED] * len(fields(RegistryQuotas)))

_OPTIONS = ServiceOptions(memory_bytes=256 << 20)


class _CannotStartError(click.ClickException):
    """The system cannot start a process that the command needs."""

    exit_code = 2


def run_in_process(main: Callable[[Services], Awaitable[_Result]]) -> _Result:
    """Run *main* with services over a registry in memory, and return its result.

    Raises:
        click.ClickException: a required process cannot be started; exit code 2.
    """

    async def run() -> _Result:
        with (
            closing(open_registry(None, _QUOTAS)) as registry,
            closing(InProcessWorker(LIMITS)) as worker,
        ):
            return await main(create_services(registry, worker.run, LIMITS, _OPTIONS))

    try:
        return asyncio.run(run())
    except WorkerStartError as error:
        raise _CannotStartError(str(error)) from None
