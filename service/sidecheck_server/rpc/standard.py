"""Standard services, health and reflection, served by the same code as our own.

By themselves they answer bytes that are not a message with UNKNOWN and the text of a
Python exception, and their open streams keep the server from stopping.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from sidecheck_server.core.errors import RequestError
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.health import HealthServicer
from sidecheck_server.rpc.method_table import Method, methods_of, raise_if_unreadable
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.rpc.streams import OpenStreams

__all__ = ["health_methods", "reflection_methods"]


def health_methods(servicer: HealthServicer) -> Iterable[Method]:
    """Return the methods of grpc.health.v1, which *servicer* serves."""
    service: Any = health_pb2.DESCRIPTOR.services_by_name["Health"]
    return methods_of([(service, _Health(servicer))], shared_only=True)


def reflection_methods(services: Sequence[str], streams: OpenStreams) -> Iterable[Method]:
    """Return the methods of the reflection of *services*."""
    service: Any = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]
    names = (*services, reflection.SERVICE_NAME)
    servicer = _Reflection(reflection.aio.ReflectionServicer(names), streams)
    return methods_of([(service, servicer)], shared_only=True)


class _Health:
    def __init__(self, servicer: HealthServicer) -> None:
        self._servicer = servicer

    async def Check(self, request: Any, _call: Call) -> Any:  # noqa: N802
        _fail_if_unreadable(request)
        return self._servicer.check(request)

    async def Watch(self, request: Any, _call: Call) -> AsyncIterator[Any]:  # noqa: N802
        _fail_if_unreadable(request)
        async for response in self._servicer.watch(request):
            yield response

    async def List(self, request: Any, _call: Call) -> Any:  # noqa: N802
        _fail_if_unreadable(request)
        # Only releases whose service has the method have its messages.
        response: Any = vars(health_pb2)["HealthListResponse"]
        return response(statuses=self._servicer.statuses())


class _Reflection:
    def __init__(self, servicer: Any, streams: OpenStreams) -> None:
        self._servicer = servicer
        self._streams = streams

    async def ServerReflectionInfo(  # noqa: N802
        self, requests: AsyncIterator[Any], _call: Call
    ) -> AsyncIterator[Any]:
        try:
            with self._streams.admit():
                async for request in self._streams.until_stopped(requests):
                    raise_if_unreadable(request)
                    # It makes no use of the context of a call.
                    responses = self._servicer.ServerReflectionInfo(_stream_of(request), None)
                    async for response in responses:
                        yield response
        except RequestError as error:
            raise CallFailed(status_from_error(error)) from None


async def _stream_of(request: Any) -> AsyncIterator[Any]:
    yield request


def _fail_if_unreadable(request: object) -> None:
    try:
        raise_if_unreadable(request)
    except RequestError as error:
        raise CallFailed(status_from_error(error)) from None
