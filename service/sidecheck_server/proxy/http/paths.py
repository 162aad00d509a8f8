"""Paths of requests over HTTP that pass beyond that of the server."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from urllib.parse import unquote

__all__ = ["OtherPaths", "is_ambiguous_path"]

_READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_WRITE_METHODS = frozenset({"POST", "OPTIONS"})

_METADATA_PREFIX = "/.well-known/"
"""Prefix of the paths of authorization metadata (RFC 8414, section 3; RFC 9728, section 3)."""

_AUTHORIZATION_METHODS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # Default endpoints of a server that is its own authorization server (2025-03-26,
        # basic/authorization, "Fallbacks for Servers without Metadata Discovery").
        "/authorize": _READ_METHODS | _WRITE_METHODS,
        "/token": _WRITE_METHODS,
        "/register": _WRITE_METHODS,
        # Endpoints of RFC 7009 and RFC 7662, under their names in the official SDKs.
        "/revoke": _WRITE_METHODS,
        "/introspect": _WRITE_METHODS,
    }
)


class OtherPaths:
    """Paths that pass beyond the MCP endpoint: *allowed* paths and paths below them."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = tuple(path.rstrip("/") for path in allowed)

    def admits(self, method: str, path: bytes) -> bool:
        """Return whether a request of *method* for *path* passes under enforcement."""
        text = path.decode("latin-1")
        if is_ambiguous_path(path):
            return False
        if text.startswith(_METADATA_PREFIX):
            return method in _READ_METHODS
        if method in _AUTHORIZATION_METHODS.get(text, ()):
            return True
        return any(text == allowed or text.startswith(f"{allowed}/") for allowed in self._allowed)


def is_ambiguous_path(path: bytes) -> bool:
    """Return whether some readers may resolve *path* to a different path.

    Such a path has a fragment, a segment ``.`` or ``..`` (RFC 3986, section 5.2.4), a backslash
    or a semicolon, possibly percent-encoded several times.
    """
    text = path.decode("latin-1")
    for _ in range(_DECODINGS):
        if any(character in text for character in "#\\;") or not {".", ".."}.isdisjoint(
            text.split("/")
        ):
            return True
        text = unquote(text, "latin-1")
    return "%" in text


_DECODINGS = 3
"""Number of times to percent-decode a path; one with escapes left after that is rejected."""
