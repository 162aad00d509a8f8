"""The routes of the HTTP API: the methods, and their description."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from sidecheck_server.admin.access import Access
from sidecheck_server.admin.http_methods import MethodEndpoint
from sidecheck_server.admin.openapi import create_openapi
from sidecheck_server.admin.problems import PROBLEM_TYPE

__all__ = ["create_routes"]


def create_routes(endpoints: Mapping[str, MethodEndpoint], access: Access) -> list[BaseRoute]:
    """Return the routes of *endpoints*, by path, and of ``/openapi.json``."""
    document = create_openapi({path: each.method for path, each in endpoints.items()})

    async def openapi(request: Request) -> Response:
        if rejected := access.check_host(request.headers):
            return Response(rejected.body, rejected.status, rejected.headers, PROBLEM_TYPE)
        return Response(document, media_type="application/json")

    methods = [Route(path, endpoint) for path, endpoint in endpoints.items()]
    return [Route("/openapi.json", openapi), *methods]
