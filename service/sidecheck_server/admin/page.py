"""Routes of the web page at ``/``, whose static files call the HTTP API.

The files contain no data, so they need no token. Their calls do if the server has tokens.
"""

import hashlib
import os
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from types import MappingProxyType
from typing import Final

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.staticfiles import NotModifiedResponse, PathLike, StaticFiles
from starlette.types import Scope

from sidecheck_server.admin.access import Access
from sidecheck_server.admin.problems import PROBLEM_TYPE

__all__ = ["create_page_routes"]

_MEDIA_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json",
        ".svg": "image/svg+xml",
    }
)

_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "connect", "img")),
        *(f"{name} 'none'" for name in ("base-uri", "form-action", "frame-ancestors")),
        # No text becomes markup or a script.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)

_HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cache-control": "no-cache",
        "content-security-policy": _POLICY,
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }
)


class _PageFiles(StaticFiles):
    """Static files of the page, for callers that *access* admits."""

    def __init__(self, access: Access) -> None:
        # Some installers make each file a symbolic link.
        super().__init__(packages=[("sidecheck_server.admin", "page")], follow_symlink=True)
        self._access = access

    async def respond(self, request: Request) -> Response:
        """Return the file at the path of *request*, or the index."""
        if fault := self._access.check_caller(request.headers):
            return Response(fault.body, fault.status, fault.headers, PROBLEM_TYPE)
        path = request.path_params.get("path", "index.html")
        return await self.get_response(path, request.scope)

    def file_response(
        self,
        full_path: PathLike,
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = HTTPStatus.OK,
    ) -> Response:
        """Return the file, or 304 if the copy of the browser is current."""
        file = Path(full_path)
        headers = {
            **_HEADERS,
            # Starlette hashes time and size, which two releases may have in common.
            "etag": f'"{hashlib.sha256(file.read_bytes()).hexdigest()[:32]}"',
            # Starlette would take the types from the operating system's table.
            "content-type": _MEDIA_TYPES.get(file.suffix, "text/plain; charset=utf-8"),
        }
        response = FileResponse(full_path, status_code, headers, stat_result=stat_result)
        if self.is_not_modified(response.headers, Headers(scope=scope)):
            return NotModifiedResponse(response.headers)
        return response


def create_page_routes(access: Access) -> list[BaseRoute]:
    """Return the routes ``/`` and ``/page/…``, for callers that *access* admits."""
    respond = _PageFiles(access).respond
    return [Route("/", respond), Route("/page/{path:path}", respond)]
