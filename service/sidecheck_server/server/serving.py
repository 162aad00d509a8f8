"""Main module of a serving process, which serves a share of the connections.

Only the first process starts it, with the descriptor of their link and the name of the event loop
as arguments.
"""

import asyncio
import os
import pickle
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack
from typing import Any, NoReturn, Protocol, TypeAlias

from prometheus_client import Metric

from sidecheck_server.config.settings import Settings, UnusableSettingsError
from sidecheck_server.observability.log import configure_log
from sidecheck_server.observability.log_output import LOG_FLUSH_SECONDS
from sidecheck_server.observability.log_writer import LogWriter
from sidecheck_server.observability.metrics import LoadCollector, register_process
from sidecheck_server.observability.tracing.composition import running_tracing
from sidecheck_server.registry import NOTHING_EXPECTED, Expected, RegistryOutcomeUnknown
from sidecheck_server.registry.catalogue import Catalogue
from sidecheck_server.registry.definitions import (
    Change,
    Definition,
    RegistrationResult,
    RemovalResult,
)
from sidecheck_server.registry.quotas import RegistryQuotas
from sidecheck_server.registry.reads import CatalogueReads
from sidecheck_server.rpc.sockets import AddressInUseError
from sidecheck_server.rpc.tls import ServerCertificates, read_certificates
from sidecheck_server.server.components import (
    ServingComponents,
    create_server,
    frozen_heap,
    loop_factory,
    read_tokens,
    running_methods,
)
from sidecheck_server.server.processes.forwarded_tasks import forward_tasks
from sidecheck_server.server.processes.launcher import ProcessStartError
from sidecheck_server.server.processes.link import Link, LinkClosed
from sidecheck_server.server.processes.serving_process import Setup

__all__ = ["CreateServer", "FollowingRegistry", "main", "serve"]


class FollowingRegistry(CatalogueReads):
    """A `Registry` that applies the changes of the registry in the first process.

    A write returns after its change has been applied here, since the first process sends the
    change before the result.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        history: Iterable[Change],
        quotas: RegistryQuotas,
        link: Link,
    ) -> None:
        super().__init__(catalogue, quotas, history)
        self._link = link
        #: Received changes of an incomplete reload, which is applied as a whole.
        self._parts: list[Change] = []
        self._loop = asyncio.get_running_loop()

    @property
    def identity(self) -> str:
        """A constant, since only the first process knows the identity of the registry."""
        return "followed"

    def apply(self, change: Change) -> None:
        """Apply *change* of the followed registry; called in the event loop."""
        self._parts.append(change)
        if change.is_continued:
            return
        parts, self._parts = self._parts, []
        after = self._catalogue
        for part in parts:
            after = after.with_change(part)
        self._publish(after, *parts)

    def register(
        self,
        server: str,
        definitions: Sequence[Definition],
        *,
        keep: frozenset[str] | None,
        expected: Expected = NOTHING_EXPECTED,
    ) -> RegistrationResult:
        """Bind *definitions*; must be called outside of the event loop's thread."""
        registered: RegistrationResult = self._write(
            "register", server, definitions, keep, dict(expected)
        )
        return registered

    def delete(self, server: str, names: Sequence[str] | None) -> RemovalResult:
        """Remove *names*, or all; must be called outside of the event loop's thread."""
        deleted: RemovalResult = self._write("delete", server, names)
        return deleted

    def close(self) -> None:
        """Do nothing: the first process closes the registry."""

    def _write(self, name: str, *arguments: object) -> Any:
        call = asyncio.run_coroutine_threadsafe(self._call(name, *arguments), self._loop)
        try:
            return call.result()
        except LinkClosed:
            raise RegistryOutcomeUnknown(
                "the registry", "cannot be reached: the process that writes it has ended"
            ) from None

    async def _call(self, name: str, *arguments: object) -> Any:
        return await self._link.call(name, *arguments)


class _Server(Protocol):
    """The server of a transport, in a serving process."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    def hurry(self) -> None: ...


CreateServer: TypeAlias = Callable[
    [Settings, ServingComponents], tuple[_Server, ServerCertificates | None]
]
"""Returns the server of components, and the certificates that it reads itself."""


def _create_grpc_server(
    settings: Settings, components: ServingComponents
) -> tuple[_Server, ServerCertificates | None]:
    certificates = read_certificates(settings)
    return create_server(settings, components, certificates), certificates


async def _do_nothing() -> None:
    pass


class _Serving:
    """Handlers of the calls of the first process."""

    def __init__(self, create: CreateServer, on_started: Callable[[], Awaitable[None]]) -> None:
        self._create = create
        self._on_started = on_started
        self.link: Link
        self.log: LogWriter | None = None
        self.stopped = asyncio.Event()
        self.stack = AsyncExitStack()
        self._registry: FollowingRegistry
        self._components: ServingComponents | None = None
        self.server: _Server | None = None
        self._workers_alive = 0

    def serve(self, text: bytes) -> Coroutine[Any, Any, None]:
        """Create the registry at once, since its changes follow, and return the start."""
        setup: Setup = pickle.loads(text)  # noqa: S301 - from the first process
        self.log = configure_log(setup.settings, setup.number)
        catalogue = Catalogue.of(setup.revision, setup.bindings, setup.change_id)
        self._registry = FollowingRegistry(
            catalogue, setup.history, setup.settings.registry_quotas, self.link
        )
        self._workers_alive = setup.workers_alive
        return self._begin(setup.settings)

    def apply(self, change: Change) -> None:
        self._registry.apply(change)

    def report_workers(self, alive: int) -> None:
        self._workers_alive = alive
        if self._components is not None:
            self._components.served.report_workers(alive)

    def collect(self) -> list[Metric]:
        return [] if self._components is None else list(self._components.metrics.registry.collect())

    def beat(self) -> None:
        """Return, which proves that the event loop runs."""

    def stop(self) -> None:
        self.stopped.set()

    def hurry(self) -> None:
        if self.server is not None:
            self.server.hurry()

    async def _begin(self, settings: Settings) -> None:
        try:
            await self._start(settings)
        except (AddressInUseError, UnusableSettingsError) as error:
            raise ProcessStartError(str(error)) from None

    async def _start(self, settings: Settings) -> None:
        tokens = read_tokens(settings)
        tracing = await self.stack.enter_async_context(running_tracing())
        components = await self.stack.enter_async_context(
            running_methods(settings, self._registry, forward_tasks(self.link), tokens, tracing)
        )
        self._components = components
        served, metrics = components.served, components.metrics
        self.stack.enter_context(frozen_heap())
        server, certificates = self._create(settings, components)
        register_process(metrics.registry, LoadCollector(served, components.services, certificates))
        served.report_workers(self._workers_alive)
        await server.start()
        self.stack.push_async_callback(server.stop)
        served.health.set_serving(serving=True)
        self.server = server
        await self._on_started()


async def serve(
    connection: socket.socket,
    create: CreateServer,
    on_started: Callable[[], Awaitable[None]] = _do_nothing,
    on_orphaned: Callable[[], None] = lambda: None,
) -> NoReturn:
    """Serve by the server that *create* returns, until the first process stops this one, or ends.

    *connection* is this end of the link with the first process. *on_started* is called when the
    server has started, before the first process learns that, and *on_orphaned* when the first
    process has ended.
    """
    serving = _Serving(create, on_started)
    names = ("serve", "apply", "report_workers", "collect", "beat", "stop", "hurry")
    serving.link = link = await Link.open(
        connection, {name: getattr(serving, name) for name in names}
    )
    link.closed.add_done_callback(lambda _: serving.stopped.set())
    await serving.stopped.wait()
    # If the first process has ended, exit at once: there are no workers, and the next service
    # needs the port.
    if link.closed.done():
        on_orphaned()
    else:
        await serving.stack.aclose()
    if serving.log is not None:
        serving.log.flush(LOG_FLUSH_SECONDS)
    # Connections that do not end would delay a regular exit.
    os._exit(0)


def main() -> None:
    """Serve until the first process stops this one, or ends."""
    descriptor, event_loop = sys.argv[1:]
    with asyncio.Runner(loop_factory=loop_factory(event_loop)) as runner:
        runner.run(serve(socket.socket(fileno=int(descriptor)), _create_grpc_server))


if __name__ == "__main__":
    main()
