"""Health: whether the server is serving (grpc.health.v1)."""

import asyncio
from collections.abc import AsyncIterator, Iterable

import grpc
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2

from sidecheck_server.rpc.calls import CallFailed

__all__ = ["HealthServicer"]

_Status = health_pb2.HealthCheckResponse


class HealthServicer:
    """Reports the health of *services*, of which only *without_workers* serve without workers.

    The server itself, "", serves if all of them do.

    Its watchers do not delay the shutdown of the server, and all are notified of every
    change: in grpc_health's own servicer, a watcher that leaves consumes the notification
    of the others.
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
        """Return whether a service is serving.

        Raises:
            CallFailed: NOT_FOUND if it is unknown.
        """
        if request.service not in self._services:
            code = grpc.StatusCode.NOT_FOUND.value[0]
            raise CallFailed(Status(code=code, message="no service of that name"))
        return self._response(request.service)

    def statuses(self) -> dict[str, health_pb2.HealthCheckResponse]:
        """Return whether each service is serving, by name."""
        return {service: self._response(service) for service in sorted(self._services)}

    async def watch(
        self, request: health_pb2.HealthCheckRequest
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Yield whether a service is serving, now and after each change, until the server ends."""
        latest = None
        while not self._ended:
            changed = self._changed
            response = self._response(request.service)
            if response != latest:
                yield response
            latest = response
            await changed.wait()

    def set_serving(self, *, serving: bool) -> None:
        """Report from now on that services are serving, or that none is."""
        self._serving = serving
        self._notify()

    def set_workers_alive(self, *, alive: bool) -> None:
        """Report from now on whether the services that need workers have any."""
        self._workers_alive = alive
        self._notify()

    def end(self) -> None:
        """End the streams of all watchers."""
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
