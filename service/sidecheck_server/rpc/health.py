"""Health service (grpc.health.v1) and reflection service of the server."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

import grpc
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from sidecheck_server.core.errors import RequestError
from sidecheck_server.rpc.calls import Call, CallFailed
from sidecheck_server.rpc.method_table import Method, methods_of, raise_if_unreadable
from sidecheck_server.rpc.status import status_from_error
from sidecheck_server.rpc.streams import OpenStreams

__all__ = [
    "HealthServicer",
    "health_methods",
    "reflection_methods",
]


_Status = health_pb2.HealthCheckResponse


class HealthServicer:
    """Reports the health of *services*; *without_workers* need no workers.

    The service "" stands for the server, which serves if all services do.

    Watches do not delay the shutdown of the server, and every watch gets every change. The
    servicer of grpc_health loses notifications when a watch ends.
    """

    def __init__(self, services: Iterable[str], without_workers: Iterable[str] = ()) -> None:
        self._services = frozenset({"", *services})
        self._without_workers = frozenset(without_workers)
        self._serving = False
        self._workers_alive = True
        self._ended = False
        self._changed = asyncio.Event()

    @property
    def is_serving(self) -> bool:
        """Whether all services are serving."""
        return bool(self._response("").status == _Status.SERVING)

    def check(self, request: health_pb2.HealthCheckRequest) -> health_pb2.HealthCheckResponse:
        """Return the status of a service.

        Raises:
            CallFailed: NOT_FOUND if the service is unknown.
        """
        if request.service not in self._services:
            code = grpc.StatusCode.NOT_FOUND.value[0]
            raise CallFailed(Status(code=code, message="no service of that name"))
        return self._response(request.service)

    def statuses(self) -> dict[str, health_pb2.HealthCheckResponse]:
        """Return the status of each service, by name."""
        return {service: self._response(service) for service in sorted(self._services)}

    async def watch(
        self, request: health_pb2.HealthCheckRequest
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Yield the status of a service, now and after each change, until `end`."""
        latest = None
        while not self._ended:
            changed = self._changed
            response = self._response(request.service)
            if response != latest:
                yield response
            latest = response
            await changed.wait()

    def set_serving(self, *, serving: bool) -> None:
        """Set whether the server is serving."""
        self._serving = serving
        self._notify()

    def set_workers_alive(self, *, alive: bool) -> None:
        """Set whether there are workers for the services that need them."""
        self._workers_alive = alive
        self._notify()

    def end(self) -> None:
        """End the streams of all watches."""
        self._ended = True
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _response(self, service: str) -> health_pb2.HealthCheckResponse:
        if service not in self._services:
            return _Status(status=_Status.SERVICE_UNKNOWN)
        ready = self._workers_alive or service in self._without_workers
        serving = self._serving and ready
        return _Status(status=_Status.SERVING if serving else _Status.NOT_SERVING)


def health_methods(servicer: HealthServicer) -> Iterable[Method]:
    """Return the methods of grpc.health.v1 with the handlers of *servicer*."""
    service: Any = health_pb2.DESCRIPTOR.services_by_name["Health"]
    return methods_of([(service, _Health(servicer))], skip_missing=True)


def reflection_methods(services: Sequence[str], streams: OpenStreams) -> Iterable[Method]:
    """Return the methods of the reflection service for *services*."""
    service: Any = reflection_pb2.DESCRIPTOR.services_by_name["ServerReflection"]
    names = (*services, reflection.SERVICE_NAME)
    servicer = _Reflection(reflection.aio.ReflectionServicer(names), streams)
    return methods_of([(service, servicer)], skip_missing=True)


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
        # Older releases of grpc_health have neither the method nor its messages.
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
                    # The servicer does not use the context, here None.
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
