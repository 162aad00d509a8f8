"""The composition root: every part of the service is made and joined here."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import structlog

from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.server import Server
from sidecheck_server.services.conversion import Converter
from sidecheck_server.services.conversion_cache import Forms
from sidecheck_server.services.inference import Inferrer
from sidecheck_server.services.protocol import Checker
from sidecheck_server.services.protocol_schemas import ProtocolSchemas
from sidecheck_server.services.registration import Registrar, Registration
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.validation import Validator
from sidecheck_server.settings import Settings
from sidecheck_server.workers import Workers

__all__ = ["running_service"]

_log = structlog.get_logger("sidecheck.service")


@asynccontextmanager
async def running_service(
    settings: Settings, preload: Sequence[Registration] = ()
) -> AsyncIterator[Server]:
    """Run the service; it is ready when the block is entered, and drains when it is left.

    The tools of *preload* are registered before it listens; those that cannot be are
    logged, and left out.

    Raises:
        AddressInUseError: an address is taken.
        RegistryInUse: another server holds the registry's file.
        RegistryUnusable: the registry's file is not one.
    """
    limits = settings.limits
    registry = open_registry(settings.registry)
    try:
        # Processes are spawned before gRPC has threads.
        workers = Workers(settings.workers, limits)
        try:
            await workers.start()
            schemas = CompiledSchemas(
                workers.compile, limits, settings.registered_schemas, settings.inline_schemas
            )
            surfaces = ProtocolSchemas(workers.compile, limits)
            checker = Checker(surfaces, schemas, workers.check, workers.judge, limits)
            registrar = Registrar(registry, schemas, checker, limits)
            for registration in preload:
                await _register(registrar, registration)
            validator = Validator(
                registry, schemas, workers.judge, limits, frozenset(settings.report_only)
            )
            forms = Forms(workers.convert, limits)
            converter = Converter(validator, registry, forms, limits)
            inferrer = Inferrer(workers.infer, limits, allowed=settings.inference)
            server = Server(settings, registry, validator, checker, registrar, converter, inferrer)
            await server.start()
            try:
                server.ready()
                yield server
            finally:
                await server.stop()
        finally:
            workers.close()
    finally:
        registry.close()


async def _register(registrar: Registrar, registration: Registration) -> None:
    """Register what is preloaded. Tools are logged by their place in the file alone."""
    done = await registrar.register(registration)
    refused = [place for place, one in enumerate(done.outcomes) if one.action is None]
    for place in refused:
        codes = sorted({problem.code for problem in done.outcomes[place].violations})
        _log.warning("preload.refused", server=registration.server, tool=place, codes=codes)
    _log.info(
        "preload.registered",
        server=registration.server,
        tools=len(done.outcomes) - len(refused),
        refused=len(refused),
    )
