"""The methods that a server has, whatever carries their calls, and what bounds these."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from google.protobuf.descriptor import ServiceDescriptor

from sidecheck_server.config.settings import Settings
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.health import HealthServicer
from sidecheck_server.rpc.method_table import methods_of
from sidecheck_server.rpc.servicers import INFO, SERVICES, create_servicers
from sidecheck_server.rpc.streams import OpenStreams
from sidecheck_server.services.container import Services

__all__ = ["CreateGateways", "ServedMethods"]

#: Returns the servicer of each protocol of gateways, whose streams and bytes count as given.
CreateGateways: TypeAlias = Callable[[OpenStreams, Admission], Mapping[ServiceDescriptor, object]]


class ServedMethods:
    """The methods of *services* and of gateways, with the calls and streams of all transports."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        services: Services,
        create_gateways: CreateGateways,
    ) -> None:
        self.admission = Admission(settings.transport)
        self.streams = OpenStreams(self.admission.gate, settings.transport, self.admission.shed)
        self.health = HealthServicer(SERVICES, without_workers={INFO})
        servicers = create_servicers(services, registry, settings.limits, self.streams)
        gateways = create_gateways(self.streams, self.admission)
        #: The methods of the API, which transports other than gRPC have too.
        self.api = tuple(methods_of(servicers.items()))
        self.gateways = tuple(methods_of(gateways.items()))
        #: The full names of all services.
        self.service_names = (*SERVICES, *(service.full_name for service in gateways))

    def report_workers(self, alive: int) -> None:
        """Report in health whether any worker process is *alive*."""
        self.health.set_workers_alive(alive=alive > 0)
