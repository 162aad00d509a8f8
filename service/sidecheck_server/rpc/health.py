"""Health: whether the server is serving (grpc.health.v1)."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

__all__ = ["HealthServicer"]

_Status = health_pb2.HealthCheckResponse


class HealthServicer(health_pb2_grpc.HealthServicer):
    """Reports the health of *services*, which serve all together or not at all.

    Its watchers do not delay the shutdown of the server, and all are notified of every
    change: in grpc_health's own servicer, a watcher that leaves consumes the notification
    of the others.
    """

    def __init__(self, services: Iterable[str]) -> None:
        self._services = frozenset({"", *services})
        self._serving = False
        self._ended = False
        self._changed = asyncio.Event()

    async def Check(  # noqa: N802
        self,
        request: health_pb2.HealthCheckRequest,
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> health_pb2.HealthCheckResponse:
        """Return whether a service is serving; NOT_FOUND if it is unknown."""
        if request.service not in self._services:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no service of that name")
        return self._response(request.service)

    async def Watch(  # noqa: N802
        self,
        request: health_pb2.HealthCheckRequest,
        _context: grpc.aio.ServicerContext[Any, Any],
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        """Yield whether a service is serving, now and after each change, until the server ends."""
        while not self._ended:
            changed = self._changed
            yield self._response(request.service)
            await changed.wait()

    def set_serving(self, *, serving: bool) -> None:
        """Report from now on that all services are serving, or that none is."""
        if serving is not self._serving:
            self._serving = serving
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
        return _Status(status=_Status.SERVING if self._serving else _Status.NOT_SERVING)
