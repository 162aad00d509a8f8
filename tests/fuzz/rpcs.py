"""RPCs of the server, from the descriptors of its services."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import sidecheck.v1
from google.protobuf.descriptor import Descriptor
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2

__all__ = ["RPCS", "Rpc", "reachable_fields", "rpc_named"]


@dataclass(frozen=True, slots=True)
class Rpc:
    """An RPC with its request and response types."""

    #: The path ``/package.Service/Method``.
    path: str
    request: Descriptor
    response: Descriptor
    #: Whether the caller may send many messages.
    many_requests: bool
    #: Whether the server may send many messages.
    many_responses: bool

    @property
    def is_ours(self) -> bool:
        """Whether it is a part of the API, and not of a standard service."""
        return self.path.startswith("/sidecheck.")


def _files() -> Iterator[Any]:
    for module in pkgutil.iter_modules(sidecheck.v1.__path__, "sidecheck.v1."):
        if module.name.endswith("_pb2"):
            yield importlib.import_module(module.name).DESCRIPTOR
    yield health_pb2.DESCRIPTOR
    yield reflection_pb2.DESCRIPTOR


def _rpcs() -> Iterator[Rpc]:
    for file in _files():
        for service in file.services_by_name.values():
            for method in service.methods:
                yield Rpc(
                    path=f"/{service.full_name}/{method.name}",
                    request=method.input_type,
                    response=method.output_type,
                    many_requests=method.client_streaming,
                    many_responses=method.server_streaming,
                )


RPCS = tuple(sorted(_rpcs(), key=lambda rpc: rpc.path))
"""All RPCs, sorted by path."""


@cache
def rpc_named(path: str) -> Rpc:
    """Return the RPC with *path*."""
    return next(rpc for rpc in RPCS if rpc.path == path)


def reachable_fields(message: Descriptor) -> set[str]:
    """Return the full names of all fields of *message* and of the messages in it."""
    fields: set[str] = set()
    waiting = [message]
    visited = set(waiting)
    while waiting:
        for field in waiting.pop().fields:
            fields.add(field.full_name)
            if field.message_type is not None and field.message_type not in visited:
                visited.add(field.message_type)
                waiting.append(field.message_type)
    return fields
