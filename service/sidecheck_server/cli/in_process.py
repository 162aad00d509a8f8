"""The services of the server, in the process of a command."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import fields
from typing import TypeVar

import click

from sidecheck_server.core.limits import Limits
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.container import ServiceOptions, Services, create_services
from sidecheck_server.workers import WorkerStartError
from sidecheck_server.workers.in_process import InProcessWorker

__all__ = ["LIMITS", "run_in_process"]

_Result = TypeVar("_Result")

_UNBOUNDED = 1 << 40

LIMITS = Limits(message_bytes=_UNBOUNDED, batch_items=_UNBOUNDED)
"""Limits of a command: those of a server, but for the size of one request."""

_QUOTAS = RegistryQuotas(*[_UNBOUNDED] * len(fields(RegistryQuotas)))

_OPTIONS = ServiceOptions(memory_bytes=256 << 20)


class _CannotStartError(click.ClickException):
    """The system has no room for a process that the command needs."""

    exit_code = 2


def run_in_process(main: Callable[[Services], Awaitable[_Result]]) -> _Result:
    """Run *main* with services over a registry in memory, and return its result.

    Raises:
        click.ClickException: a process is needed and cannot be started; exit code 2.
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
