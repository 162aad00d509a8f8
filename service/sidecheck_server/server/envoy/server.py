"""Server of the methods in an Envoy, as `rpc.server` is on grpc.aio."""

from collections.abc import Callable, Iterable

from grpc_health.v1 import health

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.config.settings import Settings
from sidecheck_server.rpc.asgi.application import GrpcApplication
from sidecheck_server.rpc.call_metrics import CallMetrics
from sidecheck_server.rpc.health import health_methods, reflection_methods
from sidecheck_server.rpc.method_table import Method
from sidecheck_server.rpc.servicers import ServedMethods
from sidecheck_server.rpc.shutdown import Shutdown
from sidecheck_server.server.envoy.admin import EnvoyAdmin

__all__ = ["EnvoyServer"]


class EnvoyServer:
    """Serves methods over gRPC in the Envoy of this process, until it is stopped."""

    def __init__(
        self,
        settings: Settings,
        served: ServedMethods,
        metrics: CallMetrics,
        authorizer: Authorizer,
        trace: Callable[[Iterable[Method]], Iterable[Method]],
        admin: EnvoyAdmin,
    ) -> None:
        """Create the server; *trace* returns methods whose handlers create spans."""
        self._served = served
        self._admin = admin
        self._shutdown = Shutdown(settings, served)
        self.application = application = GrpcApplication(
            served.admission, metrics, authorizer, settings.limits.message_bytes
        )
        application.add_methods(trace(served.api))
        application.add_methods(trace(served.gateways))
        application.add_methods(health_methods(served.health), exempt=True)
        if settings.reflection:
            names = (*served.service_names, health.SERVICE_NAME)
            application.add_methods(reflection_methods(names, served.streams))

    async def start(self) -> None:
        """Admit calls, which Envoy accepts once the application has started."""
        self._served.admission.start()

    async def stop(self) -> None:
        """Report that the server is not serving, let active calls finish, and stop."""
        await self._shutdown.run(self._end_when_idle, self._cancel)

    def hurry(self) -> None:
        """Make `stop` skip the rest of the drain period, and shorten the grace period."""
        self._shutdown.hurry()

    async def _end_when_idle(self) -> None:
        await self._admin.drain()
        await self._served.admission.gate.drain()
        await self._admin.wait_until_idle()

    async def _cancel(self) -> None:
        """Do nothing: the end of the process ends its calls."""
