"""Standard services in releases of their libraries that have other methods."""

from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from sidecheck_server.config.transport_limits import TransportLimits
from sidecheck_server.rpc import health
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.health import HealthServicer, health_methods, reflection_methods
from sidecheck_server.rpc.method_table import methods_of
from sidecheck_server.rpc.streams import OpenStreams

HEALTH = health_pb2.DESCRIPTOR.services_by_name["Health"]
REFLECTION = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]


def extended(module: Any) -> Any:
    """Return the file of *module*, whose service has one method more."""
    file = FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    service = file.service[0]
    service.method.add().CopyFrom(service.method[0])
    service.method[-1].name = "Later"
    return DescriptorPool().AddSerializedFile(file.SerializeToString())


class Extended:
    """A module of generated code with another descriptor."""

    def __init__(self, module: Any) -> None:
        self.DESCRIPTOR = extended(module)


def reflected() -> list[str]:
    admission = Admission(TransportLimits())
    streams = OpenStreams(admission.gate, TransportLimits(), admission.shed)
    return [method.name for method in reflection_methods(["a.Service"], streams)]


def test_all_methods_of_the_installed_releases_are_served() -> None:
    """A release with a method that has no handler here fails this."""
    health = [method.name for method in health_methods(HealthServicer([]))]

    assert [method.name for method in HEALTH.methods] == health
    assert [method.name for method in REFLECTION.methods] == reflected()


def test_a_method_of_a_later_release_of_health_is_left_out(monkeypatch: Any) -> None:
    """The server starts without it."""
    monkeypatch.setattr(health, "health_pb2", Extended(health_pb2))
    methods = list(health_methods(HealthServicer([])))

    assert [method.name for method in HEALTH.methods] == [method.name for method in methods]


def test_a_method_of_a_later_release_of_reflection_is_left_out(monkeypatch: Any) -> None:
    """The server starts without it."""
    monkeypatch.setattr(health, "reflection_pb2", Extended(reflection_pb2))

    assert [method.name for method in REFLECTION.methods] == reflected()


def test_a_method_of_the_own_services_is_never_left_out() -> None:
    """A missing handler is a fault of the program, which does not start."""
    service = extended(health_pb2).services_by_name["Health"]

    with pytest.raises(AttributeError, match="Check"):
        list(methods_of([(service, object())]))
