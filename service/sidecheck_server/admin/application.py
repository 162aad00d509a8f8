"""The HTTP application of the admin address."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Final, TypeAlias

from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from sidecheck_server.admin.access import Access
from sidecheck_server.admin.http_methods import MethodEndpoint
from sidecheck_server.admin.openapi import create_openapi
from sidecheck_server.admin.problems import PROBLEM_TYPE, HttpError
from sidecheck_server.core.explain.nearest import find_nearest

__all__ = [
    "Scrape",
    "create_application",
    "create_routes",
]


_LONGEST_PATH: Final = 100
"""Most characters of a path that an error repeats."""


def create_routes(endpoints: Mapping[str, MethodEndpoint], access: Access) -> list[BaseRoute]:
    """Return the routes of *endpoints*, keyed by path, and of ``/openapi.json``."""
    document = create_openapi({path: endpoint.method for path, endpoint in endpoints.items()})

    async def openapi(request: Request) -> Response:
        if rejection := access.check_host(request.headers):
            return Response(rejection.body, rejection.status, rejection.headers, PROBLEM_TYPE)
        return Response(document, media_type="application/json")

    methods = [Route(path, endpoint) for path, endpoint in endpoints.items()]
    return [Route("/openapi.json", openapi), *methods]


#: Function that returns a collector with the current values of the metrics.
Scrape: TypeAlias = Callable[[], Awaitable[Collector]]


def create_application(
    scrape: Scrape,
    is_serving: Callable[[], bool],
    access: Access,
    routes: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the application: probes, the metrics of *scrape*, and *routes*.

    * ``/livez``: 200 while the event loop runs.
    * ``/readyz``: 200 while ``grpc.health.v1`` reports SERVING, else 503.
    * ``/metrics``: in the format that the request accepts, of Prometheus or OpenMetrics. *access*
      rejects pages of other hosts.
    """

    async def live(_request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def ready(_request: Request) -> Response:
        if is_serving():
            return PlainTextResponse("ok\n")
        return PlainTextResponse("not serving\n", 503)

    async def metrics(request: Request) -> Response:
        if rejection := access.check_host(request.headers):
            return Response(rejection.body, rejection.status, rejection.headers, PROBLEM_TYPE)
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(await scrape()), headers={"content-type": content_type})

    all_routes = [
        Route("/livez", live),
        Route("/readyz", ready),
        Route("/metrics", metrics),
        *routes,
    ]
    paths = [
        route.path
        for route in all_routes
        if isinstance(route, Route) and not route.param_convertors
    ]

    async def problem(request: Request, error: Exception) -> Response:
        """Return the problem details of a request that matches no route."""
        assert isinstance(error, HTTPException)
        status = HTTPStatus(error.status_code)
        path = request.url.path
        shown = path if len(path) <= _LONGEST_PATH else f"{path[:_LONGEST_PATH]}…"
        detail = f"{request.method} is not served at {shown}"
        if status is HTTPStatus.NOT_FOUND:
            nearest = find_nearest(path, paths)
            remedy = f"did you mean {nearest}?" if nearest else "/openapi.json lists all methods"
            detail = f"unknown path {shown}; {remedy}"
        body = HttpError.plain(status, detail).body
        return Response(body, status, error.headers, PROBLEM_TYPE)

    return Starlette(routes=all_routes, exception_handlers={HTTPException: problem})
