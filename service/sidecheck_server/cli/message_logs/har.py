"""HAR files, which browsers and debugging proxies export.

Version 1.2: https://w3c.github.io/web-performance/specs/HAR/Overview.html. `encoding` of
`postData` is an addition of some programs.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sidecheck_server.cli.message_logs.http_exchanges import Body, HttpExchange, read_exchanges
from sidecheck_server.cli.message_logs.messages import MessageLog, NotThisFormError
from sidecheck_server.core.limits import Limits

__all__ = ["read", "recognizes", "time_of"]

_START = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"log"\s*+:\s*+\{')


def recognizes(text: bytes) -> bool:
    """Return whether *text* is a HAR file."""
    return _START.match(text) is not None


def read(text: bytes, limits: Limits) -> MessageLog:  # noqa: ARG001  (the form of readers)
    """Return the messages of the HAR file *text*.

    Raises:
        NotThisFormError: it is not a HAR file.
    """
    text = text.removeprefix(b"\xef\xbb\xbf")
    try:
        file = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotThisFormError(f"not JSON: {error}") from None
    log = _object(file).get("log")
    entries = _object(log).get("entries")
    if not isinstance(entries, list):
        raise NotThisFormError('it has no "entries" in its "log"')
    return read_exchanges(text, [_exchange(entry, index) for index, entry in enumerate(entries)])


def time_of(timestamp: Any) -> float | None:
    """Return the milliseconds of *timestamp* in ISO 8601, None if it is not one."""
    try:
        return datetime.fromisoformat(timestamp).timestamp() * 1000
    except (TypeError, ValueError, OverflowError):
        return None


def _exchange(entry: Any, index: int) -> HttpExchange:
    request, response = (
        _object(_object(entry).get("request")),
        _object(_object(entry).get("response")),
    )
    pointer = f"/log/entries/{index}"
    duration = _object(entry).get("time")
    status = response.get("status")
    return HttpExchange(
        str(request.get("method", "")).upper(),
        str(request.get("url", "")),
        _body(request.get("postData"), f"{pointer}/request/postData/text"),
        _body(response.get("content"), f"{pointer}/response/content/text"),
        status if type(status) is int else 0,
        _headers(request),
        _headers(response),
        time_of(_object(entry).get("startedDateTime")),
        duration if isinstance(duration, int | float) and duration > 0 else 0,
        pointer,
    )


def _body(content: Any, pointer: str) -> Body:
    properties = _object(content)
    text, size = properties.get("text"), properties.get("size")
    if not isinstance(text, str):
        return Body(pointer, None if isinstance(size, int) and size > 0 else b"")
    if properties.get("encoding") == "base64":
        try:
            return Body(pointer, base64.b64decode(text, validate=True))
        except binascii.Error:
            return Body(pointer, None)
    return Body(pointer, text.encode("utf-8", "surrogatepass"))


def _headers(part: Mapping[str, Any]) -> dict[str, str]:
    headers = part.get("headers")
    pairs = [_object(header) for header in headers] if isinstance(headers, list) else []
    return {str(pair.get("name", "")).lower(): str(pair.get("value", "")) for pair in pairs}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
