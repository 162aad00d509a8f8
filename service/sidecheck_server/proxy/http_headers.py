"""Headers of HTTP on their way through the proxy, as the bytes that they are."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

__all__ = [
    "BODY_HEADERS",
    "RawHeaders",
    "combine",
    "is_lookalike",
    "is_utf8",
    "own_headers",
    "passed_headers",
]

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

_UTF_8 = re.compile(
    r"""(?:[a-z0-9!#$&^_.+-]++/[a-z0-9!#$&^_.+-]++)?\s*+(?:;\s*+(?:charset\s*+=\s*+("?)utf-?8\1\s*+)?)*+""",
    re.IGNORECASE,
)
"""A media type without parameters, or with the charset UTF-8."""

_OF_MESSAGE = (b"mcp-", b"content-", b"transfer-", b"last-event-id")
"""Prefixes of headers that say how a message is read."""

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
    values: dict[str, list[str]] = {}
    for name, value in raw:
        values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return {name: ", ".join(texts) for name, texts in values.items()}


def is_lookalike(name: bytes) -> bool:
    """Return whether servers may take the header *name* for one that is read here.

    Those that hand headers on as variables, as CGI does, read ``-`` and ``_`` alike
    (RFC 3875, section 4.1.18).
    """
    return b"_" in name and name.lower().replace(b"_", b"-").startswith(_OF_MESSAGE)


def is_utf8(headers: Mapping[str, str]) -> bool:
    """Return whether a body with *headers* is in UTF-8 by all that readers may make of them.

    Readers who go by another charset, UTF-7 for one, find other messages in the same bytes. They
    differ in how they read parameters (RFC 2231 has several forms of one), so there may be none
    but the charset UTF-8.
    """
    return _UTF_8.fullmatch(headers.get("content-type", "").strip()) is not None


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
