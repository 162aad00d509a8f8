"""The page at ``/``: static files of this package, which call the HTTP API.

The page itself has no data, so it needs no token; its calls do, where the server has tokens.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

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


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the page."""

    content: bytes
    media_type: str
    etag: str


def create_page_routes(access: Access) -> list[BaseRoute]:
    """Return the routes of the page, for those whom *access* admits: ``/`` and ``/page/…``."""
    served = _read_files()

    async def respond(request: Request) -> Response:
        if fault := access.check_caller(request.headers):
            return Response(fault.body, fault.status, fault.headers, PROBLEM_TYPE)
        file = served[request.url.path]
        headers = {**_HEADERS, "etag": file.etag, "content-type": file.media_type}
        known = request.headers.get("if-none-match", "").split(",")
        if file.etag in (etag.strip().removeprefix("W/") for etag in known):
            return Response(status_code=304, headers=headers)
        return Response(file.content, headers=headers)

    return [Route(path, respond) for path in served]


def _read_files() -> dict[str, _File]:
    """Return the files of the page by their paths."""
    contents = {
        f"/page/{entry.name}": _read(entry)
        for entry in files("sidecheck_server.admin").joinpath("page").iterdir()
        if entry.is_file()
    }
    index = contents.pop("/page/index.html")
    return {"/": index, **contents}


def _read(entry: Traversable) -> _File:
    content = entry.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return _File(content, _MEDIA_TYPES[PurePosixPath(entry.name).suffix], f'"{digest[:32]}"')
