"""The services of the server, in the process of a command."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from sidecheck_server.core.limits import Limits
from sidecheck_server.registry import Registry
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.conversion import Converter
from sidecheck_server.services.conversion_cache import Forms
from sidecheck_server.services.inference import Inferrer
from sidecheck_server.services.model_calls import Restorer
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.protocol_schemas import ProtocolSchemas
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.validation import Validator
from sidecheck_server.workers.in_process import InProcessWorker

__all__ = ["LIMITS", "Services", "run_in_process"]

_Result = TypeVar("_Result")

_UNBOUNDED = 1 << 40

LIMITS = Limits(message_bytes=_UNBOUNDED, batch_items=_UNBOUNDED)
"""Limits of a command: those of a server, but for the size of one request."""

_SCHEMAS = 10_000
"""Number of compiled schemas to keep."""


@dataclass(frozen=True, slots=True)
class Services:
    """Services over a registry in memory."""

    registry: Registry
    checker: Checker
    validator: Validator
    converter: Converter
    restorer: Restorer
    inferrer: Inferrer


def run_in_process(main: Callable[[Services], Awaitable[_Result]]) -> _Result:
    """Run *main* with the services, and return its result."""

    async def run() -> _Result:
        registry = open_registry(None)
        try:
            return await main(_compose(registry))
        finally:
            registry.close()

    return asyncio.run(run())


def _compose(registry: Registry) -> Services:
    worker = InProcessWorker(LIMITS)
    schemas = CompiledSchemas(worker.compile, LIMITS, _SCHEMAS, _SCHEMAS)
    protocol_schemas = ProtocolSchemas(worker.compile, LIMITS)
    checker = Checker(protocol_schemas, schemas, worker.check, worker.judge, LIMITS)
    validator = Validator(registry, schemas, worker.judge, LIMITS)
    return Services(
        registry=registry,
        checker=checker,
        validator=validator,
        converter=Converter(validator, registry, Forms(worker.convert, LIMITS), LIMITS),
        restorer=Restorer(validator, registry, LIMITS),
        inferrer=Inferrer(worker.infer, LIMITS, allowed=True),
    )
