"""The composition root: every part of the service is made and joined here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.rpc.server import Server
from sidecheck_server.settings import Settings
from sidecheck_server.state.registration import Registrar
from sidecheck_server.state.schemas import CompiledSchemas
from sidecheck_server.state.validation import Validator
from sidecheck_server.workers import Workers

__all__ = ["running_service"]


@asynccontextmanager
async def running_service(settings: Settings) -> AsyncIterator[Server]:
    """Run the service; it is ready when the block is entered, and drains when it is left.

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
            server = Server(
                settings,
                registry,
                Validator(
                    registry, schemas, workers.judge, limits, frozenset(settings.report_only)
                ),
                Registrar(registry, schemas, limits),
            )
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
