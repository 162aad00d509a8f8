"""The implementations of the API's services, over one set of application services."""

from collections.abc import Mapping
from typing import Final

from google.protobuf.descriptor import ServiceDescriptor
from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    info_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    validation_service_pb2,
)

from sidecheck_server.core.limits import Limits
from sidecheck_server.registry import Registry
from sidecheck_server.rpc.conversion import ConversionServicer
from sidecheck_server.rpc.inference import InferenceServicer
from sidecheck_server.rpc.info import InfoServicer
from sidecheck_server.rpc.protocol import ProtocolServicer
from sidecheck_server.rpc.registry import RegistryServicer
from sidecheck_server.rpc.streams import OpenStreams
from sidecheck_server.rpc.validation import ValidationServicer
from sidecheck_server.services.container import Services

__all__ = ["INFO", "SERVICES", "create_servicers"]

_VALIDATION = validation_service_pb2.DESCRIPTOR.services_by_name["ValidationService"]
_PROTOCOL = protocol_service_pb2.DESCRIPTOR.services_by_name["ProtocolService"]
_CONVERSION = conversion_service_pb2.DESCRIPTOR.services_by_name["ConversionService"]
_INFERENCE = inference_service_pb2.DESCRIPTOR.services_by_name["InferenceService"]
_REGISTRY = registry_service_pb2.DESCRIPTOR.services_by_name["RegistryService"]
_INFO = info_service_pb2.DESCRIPTOR.services_by_name["InfoService"]

#: Full names of all services.
SERVICES: Final = tuple(
    descriptor.full_name
    for descriptor in (_VALIDATION, _PROTOCOL, _CONVERSION, _INFERENCE, _REGISTRY, _INFO)
)

#: Full name of InfoService, which needs no worker process.
INFO: Final = _INFO.full_name


def create_servicers(
    services: Services, registry: Registry, limits: Limits, streams: OpenStreams
) -> Mapping[ServiceDescriptor, object]:
    """Return the servicer of each service, the most called first: gRPC looks them up in order."""
    return {
        _VALIDATION: ValidationServicer(services, limits, streams),
        _PROTOCOL: ProtocolServicer(services, limits, streams),
        _CONVERSION: ConversionServicer(services, limits),
        _INFERENCE: InferenceServicer(services, limits),
        _REGISTRY: RegistryServicer(services, limits, streams),
        _INFO: InfoServicer(registry, services.resolver.default_version, limits),
    }
