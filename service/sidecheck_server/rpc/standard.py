"""The standard services, health and reflection, joined to the wire as our own are.

Left to themselves they answer bytes that are no message with UNKNOWN and the text of a
Python exception, and an open stream of theirs keeps a server from stopping.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from sidecheck_server.core.errors import RequestError
from sidecheck_server.rpc.health import HealthServicer
from sidecheck_server.rpc.methods import add_service, refuse_unreadable
from sidecheck_server.rpc.status import abort, status_from_error
from sidecheck_server.rpc.streams import Streams

__all__ = ["add_health", "add_reflection"]

_Context = grpc.aio.ServicerContext[Any, Any]


def add_health(server: grpc.aio.Server, servicer: HealthServicer) -> None:
    """Make *server* serve grpc.health.v1 by *servicer*."""
    service: Any = health_pb2.DESCRIPTOR.services_by_name["Health"]
    add_service(server, service, _Health(servicer))


def add_reflection(server: grpc.aio.Server, services: Sequence[str], streams: Streams) -> None:
    """Make *server* tell what *services* are, by reflection."""
    service: Any = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]
    names = (*services, reflection.SERVICE_NAME)
    add_service(server, service, _Reflection(reflection.aio.ReflectionServicer(names), streams))


class _Health:
    def __init__(self, servicer: HealthServicer) -> None:
        self._servicer = servicer

    async def Check(self, request: Any, context: _Context) -> Any:  # noqa: N802
        await _abort_unreadable(request, context)
        return await self._servicer.Check(request, context)

    async def Watch(self, request: Any, context: _Context) -> AsyncIterator[Any]:  # noqa: N802
        await _abort_unreadable(request, context)
        async for answer in self._servicer.Watch(request, context):
            yield answer


class _Reflection:
    def __init__(self, servicer: Any, streams: Streams) -> None:
        self._servicer = servicer
        self._streams = streams

    async def ServerReflectionInfo(  # noqa: N802
        self, requests: AsyncIterator[Any], context: _Context
    ) -> AsyncIterator[Any]:
        try:
            async for request in self._streams.requests(requests):
                await _abort_unreadable(request, context)
                answers = self._servicer.ServerReflectionInfo(_only(request), context)
                async for answer in answers:
                    yield answer
        except RequestError as refusal:
            await abort(context, status_from_error(refusal))


async def _only(request: Any) -> AsyncIterator[Any]:
    yield request


async def _abort_unreadable(request: object, context: _Context) -> None:
    try:
        refuse_unreadable(request)
    except RequestError as refusal:
        await abort(context, status_from_error(refusal))
