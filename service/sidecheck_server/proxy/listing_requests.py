"""Requests for the tools of a server that the proxy makes itself, on behalf of a client."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from sidecheck_server.proxy.messages import Message, read_object

__all__ = ["PROTOCOL_VERSION", "ListTools", "ListingFailed", "client_metadata"]

PROTOCOL_VERSION: Final = "io.modelcontextprotocol/protocolVersion"

_CLIENT_METADATA = (
    PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
)
"""Metadata that describes the client in each request (2026-07-28, basic, "_meta")."""

#: Sends a ``tools/list`` request with these params, as JSON texts, and returns its response.
#: Raises `ListingFailed` if there is none.
ListTools: TypeAlias = Callable[[Mapping[str, bytes]], Awaitable[Message]]


class ListingFailed(Exception):
    """The server does not respond to ``tools/list``.

    It is asked again for the next call, unless *holds_up*: then all messages of the client wait
    for each attempt.
    """

    def __init__(self, *, holds_up: bool = False) -> None:
        super().__init__()
        self.holds_up = holds_up


def client_metadata(params: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what the *params* of a request say of its client, as JSON texts."""
    metadata = read_object(params.get("_meta", b"")) or {}
    return {name: metadata[name] for name in _CLIENT_METADATA if name in metadata}
