"""Standard services, health and reflection, served by the same code as our own.

By themselves they answer bytes that are not a message with UNKNOWN and the text of a
Python exception, and their open streams keep the server from stopping.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any

import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from sidecheck_server.core.errors import RequestError
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.health import HealthServicer
from sidecheck_server.rpc.methods import add_service, raise_if_unreadable
from sidecheck_server.rpc.status import abort, status_from_error
from sidecheck_server.rpc.streams import OpenStreams

__all__ = ["add_health", "add_reflection"]

_Context = grpc.aio.ServicerContext[Any, Any]


def add_health(server: grpc.aio.Server, servicer: HealthServicer, admission: Admission) -> None:
    """Serve grpc.health.v1 on *server* by *servicer*, however many calls there are."""
    service: Any = health_pb2.DESCRIPTOR.services_by_name["Health"]
    add_service(server, service, _Health(servicer), admission, exempt=True)


def add_reflection(
    server: grpc.aio.Server, services: Sequence[str], admission: Admission, streams: OpenStreams
) -> None:
    """Serve reflection of *services* on *server*."""
    service: Any = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]
    names = (*services, reflection.SERVICE_NAME)
    servicer = _Reflection(reflection.aio.ReflectionServicer(names), streams)
    add_service(server, service, servicer, admission)


class _Health:
    def __init__(self, servicer: HealthServicer) -> None:
        self._servicer = servicer

    async def Check(self, request: Any, context: _Context) -> Any:  # noqa: N802
        await _abort_unreadable(request, context)
        return await self._servicer.Check(request, context)

    async def Watch(self, request: Any, context: _Context) -> AsyncIterator[Any]:  # noqa: N802
        await _abort_unreadable(request, context)
        async for response in self._servicer.Watch(request, context):
            yield response


class _Reflection:
    def __init__(self, servicer: Any, streams: OpenStreams) -> None:
        self._servicer = servicer
        self._streams = streams

    async def ServerReflectionInfo(  # noqa: N802
        self, requests: AsyncIterator[Any], context: _Context
    ) -> AsyncIterator[Any]:
        try:
            with self._streams.admit():
                async for request in self._streams.requests(requests):
                    await _abort_unreadable(request, context)
                    responses = self._servicer.ServerReflectionInfo(_stream_of(request), context)
                    async for response in responses:
                        yield response
        except RequestError as error:
            await abort(context, status_from_error(error))


async def _stream_of(request: Any) -> AsyncIterator[Any]:
    yield request


async def _abort_unreadable(request: object, context: _Context) -> None:
    try:
        raise_if_unreadable(request)
    except RequestError as error:
        await abort(context, status_from_error(error))
