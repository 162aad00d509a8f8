"""Headers of HTTP on their way through the proxy, as the bytes that they are."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

__all__ = ["BODY_HEADERS", "RawHeaders", "combine", "is_utf8", "own_headers", "passed_headers"]

RawHeaders: TypeAlias = list[tuple[bytes, bytes]]

_OF_CONNECTION = frozenset(
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
        # Of the receiver, which has answered it.
        b"expect",
        b"host",
    }
)

BODY_HEADERS = frozenset({b"content-encoding", b"content-length"})
"""Headers about the form of a body, which the proxy chooses where it reads the body."""

_CHARSET = re.compile(r"""charset\*?\s*=\s*["']*([^"';,\s]*)""")
_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", ""})

_OF_ANOTHER_REQUEST = (b"mcp-param-", b"mcp-name", b"mcp-method", b"content-", b"last-event-id")
"""Prefixes of headers that are about another request or its body."""


def passed_headers(raw: Iterable[tuple[bytes, bytes]], excluded: Collection[bytes]) -> RawHeaders:
    """Return the headers *raw* that are not of one connection, nor *excluded*."""
    headers = [(name.lower(), value) for name, value in raw]
    named = {
        option.strip().lower()
        for name, value in headers
        if name == b"connection"
        for option in value.split(b",")
    }
    return [
        (name, value)
        for name, value in headers
        if name not in _OF_CONNECTION and name not in excluded and name not in named
    ]


def combine(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the headers *raw*, by lower-case names.

    The values of a header that is repeated are one list (RFC 9110, section 5.3), so that no
    receiver takes another of them than what is checked here.
    """
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def is_utf8(headers: Mapping[str, str]) -> bool:
    """Return whether a body with *headers* is in UTF-8 by all that they say.

    Readers who go by another charset, UTF-7 for one, find other messages in the same bytes.
    """
    kind = headers.get("content-type", "").lower()
    return all(charset in _CHARSETS for charset in _CHARSET.findall(kind))


def own_headers(raw: Iterable[tuple[bytes, bytes]], extra: Mapping[bytes, bytes]) -> RawHeaders:
    """Return the headers of a message that the proxy sends on behalf of who sends *raw*."""
    kept = [
        (name, value)
        for name, value in raw
        if not name.startswith(_OF_ANOTHER_REQUEST) and name != b"accept"
    ]
    return [
        *kept,
        (b"content-type", b"application/json"),
        (b"accept", b"application/json, text/event-stream"),
        *extra.items(),
    ]
