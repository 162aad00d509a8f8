"""The proxy's own address in the authorization metadata of the server behind it.

OAuth clients demand that the ``resource`` of the metadata (RFC 9728, section 3.3) matches the URL
that they call, which is that of the proxy.
"""

import re
from typing import Final
from urllib.parse import urlsplit

import msgspec

from sidecheck_server.proxy.http.headers import RawHeaders
from sidecheck_server.proxy.messages import join_object, read_object, string_value

__all__ = ["PublicAddress"]

_METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
"""Start of the paths of protected resource metadata (RFC 9728, section 3)."""

_CHALLENGE_PART: Final = re.compile(
    rb'(?P<name>\bresource_metadata[ \t]*+=[ \t]*+)(?P<value>"[^"\\]*+"|[^\s",]++)'
    rb'|"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)',
    re.IGNORECASE | re.DOTALL,
)
"""The parameter ``resource_metadata`` (RFC 9728, section 5.1), or another quoted string."""


class PublicAddress:
    """Address *url* under which clients call the proxy, before a server with *server_path*."""

    def __init__(self, url: str, server_path: str) -> None:
        parts = urlsplit(url)
        self._url = url
        self._path = parts.path
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._server_path = server_path
        # A gateway before the proxy may add a prefix to all paths.
        has_prefix = parts.path.endswith(server_path)
        self._base = self._origin + (parts.path[: -len(server_path) or None] if has_prefix else "")

    def is_metadata_path(self, path: bytes) -> bool:
        """Return whether *path* is that of the metadata of a resource."""
        text = path.decode("latin-1")
        return text == _METADATA_PATH or text.startswith(f"{_METADATA_PATH}/")

    def find_server_path(self, path: bytes) -> bytes:
        """Return the path on the server for *path*.

        Clients derive the path of the metadata from the URL that they call (RFC 9728,
        section 3.1).
        """
        if path.decode("latin-1") == _METADATA_PATH + self._path.rstrip("/"):
            return (_METADATA_PATH + self._server_path.rstrip("/")).encode()
        return path

    def rewrite_metadata(self, text: bytes) -> bytes:
        """Return the metadata *text* with the proxy as the resource."""
        properties = read_object(text)
        resource = string_value((properties or {}).get("resource"))
        if properties is None or not resource:
            return text
        url = msgspec.json.encode(self._find_public_url(resource))
        return join_object({**properties, "resource": url})

    def rewrite_challenges(self, headers: RawHeaders) -> RawHeaders:
        """Return *headers* with the proxy in the address of the metadata."""
        return [
            (
                name,
                _CHALLENGE_PART.sub(self._rewrite_parameter, value)
                if name.lower() == b"www-authenticate"
                else value,
            )
            for name, value in headers
        ]

    def _rewrite_parameter(self, match: re.Match[bytes]) -> bytes:
        if match["name"] is None:
            return match[0]
        url = match["value"].strip(b'"').decode("latin-1")
        if not _path_of(url).startswith(_METADATA_PATH):
            return match[0]
        return match["name"] + b'"' + self._find_public_url(url).encode("latin-1") + b'"'

    def _find_public_url(self, url: str) -> str:
        """Return the URL at the proxy of *url*, a URL of the server."""
        path = _path_of(url)
        if path.rstrip("/") == self._server_path.rstrip("/"):
            return self._url
        return self._base + path


def _path_of(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""
