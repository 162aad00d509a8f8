"""The paths that pass under enforcement: where no message can hide.

What reaches a server beside its endpoint may reach the handler of its messages too: frameworks
mount applications, and differ in how they read a path. So only what is known to be something else
passes, and what `--allow-path` names.
"""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from urllib.parse import unquote

__all__ = ["OtherPaths", "has_steps"]

_READ = frozenset({"GET", "HEAD", "OPTIONS"})
_SENT = frozenset({"POST", "OPTIONS"})

_METADATA = "/.well-known/"
"""Below it is the metadata of authorization (RFC 8414, section 3; RFC 9728, section 3)."""

_AUTHORIZATION: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # The endpoints of a server that authorizes its clients itself (2025-03-26,
        # basic/authorization, "Fallbacks for Servers without Metadata Discovery").
        "/authorize": _READ | _SENT,
        "/token": _SENT,
        "/register": _SENT,
        # Those of RFC 7009 and RFC 7662, by the names that the official SDKs give them.
        "/revoke": _SENT,
        "/introspect": _SENT,
    }
)


class OtherPaths:
    """The paths that pass beside the endpoint: *allowed* ones, and what is below them."""

    def __init__(self, allowed: Collection[str] = ()) -> None:
        self._allowed = tuple(path.rstrip("/") for path in allowed)

    def admits(self, method: str, path: bytes) -> bool:
        """Return whether a request of *method* for *path* passes under enforcement."""
        text = path.decode("latin-1")
        if has_steps(path):
            return False
        if text.startswith(_METADATA):
            return method in _READ
        if method in _AUTHORIZATION.get(text, ()):
            return True
        return any(text == allowed or text.startswith(f"{allowed}/") for allowed in self._allowed)


def has_steps(path: bytes) -> bool:
    """Return whether readers may take *path* for another one.

    It has a fragment, segments ``.`` and ``..`` (RFC 3986, section 5.2.4), backslashes or a
    semicolon, plainly or with escapes of escapes.
    """
    text = path.decode("latin-1")
    for _ in range(_ESCAPES):
        if any(character in text for character in "#\\;") or not {".", ".."}.isdisjoint(
            text.split("/")
        ):
            return True
        text = unquote(text, "latin-1")
    return "%" in text


_ESCAPES = 3
"""How many times a path is unescaped; one that has escapes then is no honest one."""
