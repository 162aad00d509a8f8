"""HTTP headers that the proxy forwards, as raw bytes."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

__all__ = [
    "BODY_HEADERS",
    "RawHeaders",
    "build_request_headers",
    "combine",
    "end_to_end_headers",
    "is_lookalike",
    "is_utf8",
]

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

_HOP_BY_HOP_HEADERS = frozenset(
    {
        # RFC 9110, section 7.6.1.
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        # The HTTP server of the proxy responds to it.
        b"expect",
        b"host",
    }
)

BODY_HEADERS = frozenset({b"content-encoding", b"content-length"})
"""Headers about the encoding of a body, which the proxy replaces where it reads the body."""

_UTF_8 = re.compile(
    r"""(?:[a-z0-9!#$&^_.+-]++/[a-z0-9!#$&^_.+-]++)?\s*+(?:;\s*+(?:charset\s*+=\s*+("?)utf-?8\1\s*+)?)*+""",
    re.IGNORECASE,
)
"""A media type whose only parameter, if any, is the charset UTF-8."""

_MESSAGE_PREFIXES = (b"mcp-", b"content-", b"transfer-", b"last-event-id")
"""Prefixes of headers that determine how receivers read a message."""

_REQUEST_SPECIFIC_PREFIXES = (
    b"mcp-param-",
    b"mcp-name",
    b"mcp-method",
    b"content-",
    b"last-event-id",
)
"""Prefixes of headers that describe the original request or its body."""


def end_to_end_headers(
    raw: Iterable[tuple[bytes, bytes]], excluded: Collection[bytes]
) -> RawHeaders:
    """Return the headers *raw* without hop-by-hop and *excluded* headers."""
    headers = [(name.lower(), value) for name, value in raw]
    connection_options = {
        option.strip().lower()
        for name, value in headers
        if name == b"connection"
        for option in value.split(b",")
    }
    return [
        (name, value)
        for name, value in headers
        if name not in _HOP_BY_HOP_HEADERS
        and name not in excluded
        and name not in connection_options
    ]


def combine(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers *raw*, keyed by lower-case name.

    The values of a repeated header are joined (RFC 9110, section 5.3), so that the proxy checks
    every value that a receiver may pick.
    """
    values: dict[str, list[str]] = {}
    for name, value in raw:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return {name: ", ".join(texts) for name, texts in values.items()}


def is_lookalike(name: bytes) -> bool:
    """Return whether servers may confuse the header *name* with one the proxy reads.

    Servers that turn headers into variables, as CGI does, do not distinguish ``-`` and ``_``
    (RFC 3875, section 4.1.18).
    """
    return b"_" in name and name.lower().replace(b"_", b"-").startswith(_MESSAGE_PREFIXES)


def is_utf8(headers: Mapping[str, str]) -> bool:
    """Return whether every reader decodes a body with *headers* as UTF-8.

    A reader that decodes by another charset, such as UTF-7, finds other messages in the same
    bytes. Readers parse parameters differently (RFC 2231 has several forms of a parameter), so
    any parameter but the charset UTF-8 is refused.
    """
    return _UTF_8.fullmatch(headers.get("content-type", "").strip()) is not None


def build_request_headers(
    raw: Iterable[tuple[bytes, bytes]], extra: Mapping[bytes, bytes]
) -> RawHeaders:
    """Return headers for a POST of the proxy, based on *raw*, those of the client."""
    client_headers = [
        (name, value)
        for name, value in raw
        if not name.startswith(_REQUEST_SPECIFIC_PREFIXES) and name != b"accept"
    ]
    return [
        *client_headers,
        (b"content-type", b"application/json"),
        (b"accept", b"application/json, text/event-stream"),
        *extra.items(),
    ]
