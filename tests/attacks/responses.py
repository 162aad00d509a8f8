"""Attacks by a server: an invalid result in disguise, which the client must not get."""

import gzip
import json
from dataclasses import dataclass
from typing import Any, Literal

from attacks.raw_http import response_of

__all__ = [
    "ATTACKS",
    "BAD",
    "BAD_RESULT",
    "BODIES",
    "GOOD_RESULT",
    "MARK",
    "STREAMS",
    "ResponseAttack",
    "event",
]

MARK = b"evil"
"""What an invalid result has, and nothing that passes."""


def _response(content: Any, id_: Any = 5) -> bytes:
    result = {"content": [{"type": "text", "text": "{}"}], "structuredContent": content}
    return json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode()


BAD_RESULT, GOOD_RESULT = _response({"n": "evil"}), _response({"n": 1})
BAD = json.loads(BAD_RESULT)


def event(data: bytes) -> bytes:
    """Return an event with *data*."""
    return b"data: " + data + b"\n\n"


@dataclass(frozen=True, slots=True)
class ResponseAttack:
    """A server's response to a call or a GET, and the expected response at the client."""

    name: str
    #: The bound or rule that holds it.
    rule: str
    response: bytes
    status: int
    method: Literal["POST", "GET"] = "POST"
    #: What the response to the call becomes; "" for a GET.
    outcome: Literal["result", "error", ""] = "error"


_JSON, _EVENTS = "application/json", "text/event-stream"
_ENCODINGS = "a message is UTF-8 without a mark"
_LINES = "events are written anew, with the fields of the specification"
_TYPES = "a body is JSON, or events by name; all else does not pass"
_IDS = "a response has the id of its request, and there is one"
_ERRORS = "a result with the status of an error is none"
_BOUNDS = "--max-message-bytes"
_REDIRECTIONS = "a redirection leads to the proxy"
_MARK_8 = b"\xef\xbb\xbf"
_BATCH = b"[%b]" % b",".join([BAD_RESULT] * 1_001)
_BOMB = gzip.compress(b" " * 20_000_000 + BAD_RESULT)
_LOCATIONS = (
    "http://evil.example/mcp",
    "//evil.example/mcp",
    "/\\evil.example/mcp",
    "////evil.example/mcp",
    "/\t/evil.example/mcp",
    "http:/\\evil.example/mcp",
    "http://localhost:1@evil.example/mcp",
    "HTTP://EVIL.example",
)

#: Invalid results in events that some readers find, by name.
STREAMS: dict[str, bytes] = {
    "a mark twice": _MARK_8 * 2 + event(BAD_RESULT),
    "a mark in Latin-1, as characters": "\u00ef\u00bb\u00bf".encode() + event(BAD_RESULT),
    "a mark after an event that is dropped": event(_response({"n": 1}, 6))
    + _MARK_8
    + event(BAD_RESULT),
    "a mark after a comment": b":\n" + _MARK_8 + event(BAD_RESULT),
    "U+2028 in a comment": b": a\xe2\x80\xa8" + event(BAD_RESULT),
    "NEL in an id": b"id: 1\xc2\x85" + event(BAD_RESULT),
    "a form feed in a type": b"event: a\x0c" + event(BAD_RESULT),
    "a field that is unknown": b"a: b\xc2\x85" + event(BAD_RESULT),
    "NUL before the data": b"\0" + event(BAD_RESULT),
    "a blank before the data": b" " + event(BAD_RESULT),
    "a blank behind the name": BAD_RESULT.join((b"data : ", b"\n\n")),
    "another case": BAD_RESULT.join((b"DATA: ", b"\n\n")),
    "bytes that are not UTF-8 before the data": b"\xff" + event(BAD_RESULT),
    "a batch of 1,001 of another type": b"event: x\n" + event(_BATCH),
    "a batch of 1,001, with a blank behind its type": b"event: message \n" + event(_BATCH),
    "a message that carriage returns divide": b"event: x\n"
    + event(BAD_RESULT.replace(b'"result"', b'\r"result"')),
    "a message behind a mark": b"event: x\n" + event(_MARK_8 + _BATCH),
    "no blank line at the end": b"data: " + BAD_RESULT + b"\n",
    "one carriage return at the end": b"data: " + BAD_RESULT + b"\r",
    "types that differ": b"event: x\nevent: message\n" + event(BAD_RESULT + b"}"),
    "the id as a string": event(_response({"n": "evil"}, "5")),
    "the id as a fraction": event(BAD_RESULT.replace(b"5", b"5.00", 1) + b" "),
}

#: Bodies that are no message in UTF-8, by name.
BODIES: dict[str, bytes] = {
    "UTF-8 with a mark": _MARK_8 + BAD_RESULT,
    "UTF-16": BAD_RESULT.decode().encode("utf-16"),
    "UTF-32": BAD_RESULT.decode().encode("utf-32"),
    "a batch of 1,001": _BATCH,
    "not JSON behind the message": BAD_RESULT + b"}",
    "gzip that no header names": gzip.compress(BAD_RESULT),
}


def _events(body: bytes, kind: str = _EVENTS, **options: Any) -> bytes:
    return response_of(body, kind, **options)


def _redirected(status: int, location: str) -> bytes:
    return response_of(b"", "", status, b"location: " + location.encode())


ATTACKS = [
    *(
        ResponseAttack(f"events: {name}", _LINES, _events(body), 200)
        for name, body in STREAMS.items()
        if name != "the id as a fraction"
    ),
    ResponseAttack(
        "events: the id as a fraction",
        _IDS,
        _events(STREAMS["the id as a fraction"]),
        200,
        outcome="result",
    ),
    ResponseAttack(
        "events: a second response",
        _IDS,
        _events(event(GOOD_RESULT) + event(BAD_RESULT)),
        200,
        outcome="result",
    ),
    ResponseAttack("events that do not end", _BOUNDS, _events(b"data: " + b"x" * 2_000_001), 200),
    *(
        ResponseAttack(
            f"JSON: {name}",
            _ENCODINGS,
            response_of(body),
            200,
            # The mark is removed, and the message validated.
            outcome="result" if name == "UTF-8 with a mark" else "error",
        )
        for name, body in BODIES.items()
    ),
    *(
        ResponseAttack(f"the type {kind!r}", _TYPES, response_of(BAD_RESULT, kind), status)
        for kind, status in {
            **dict.fromkeys(("text/plain", "", "text/html", "application/jso"), 502),
            **dict.fromkeys(("application/json, text/plain", "text/plain, application/json"), 502),
            "application/json; charset=utf-16": 502,
            "application/json; charset*0=utf-16": 502,
            'application/json; x="; charset=utf-16"': 502,
        }.items()
    ),
    ResponseAttack(
        "two types",
        _TYPES,
        response_of(BAD_RESULT, _JSON, head=b"content-type: text/event-stream"),
        502,
    ),
    *(
        ResponseAttack(f"a result with the status {status}", _ERRORS, response, expected)
        for status, expected in ((300, 502), (304, 502), (400, 502), (404, 502), (500, 502))
        for response in (response_of(BAD_RESULT, _JSON, status),)
    ),
    ResponseAttack(
        "events with the status 300",
        _TYPES,
        _events(event(BAD_RESULT), status=300),
        300,
        outcome="result",
    ),
    ResponseAttack("gzip", _BOUNDS, response_of(_BOMB, head=b"content-encoding: gzip"), 502),
    ResponseAttack(
        "gzip that is broken",
        "what cannot be decoded does not pass",
        response_of(gzip.compress(BAD_RESULT)[:-1], head=b"content-encoding: gzip"),
        502,
    ),
    ResponseAttack(
        "gzip twice",
        "a body is validated as it is decoded",
        response_of(gzip.compress(gzip.compress(BAD_RESULT)), head=b"content-encoding: gzip, gzip"),
        200,
        outcome="result",
    ),
    ResponseAttack(
        "two responses",
        "nothing follows the last response of a connection",
        response_of(GOOD_RESULT) + response_of(BAD_RESULT),
        502,
    ),
    ResponseAttack(
        "two lengths",
        "what can be framed in two ways does not pass",
        response_of(BAD_RESULT, head=b"content-length: 5"),
        502,
    ),
    ResponseAttack(
        "a header in a header",
        "a header is one line",
        response_of(b"", head=b"x: a\rcontent-type: application/json\r\r" + BAD_RESULT),
        502,
    ),
    *(
        ResponseAttack(f"POST: a redirection to {location!r}", _REDIRECTIONS, response, 502)
        for location in _LOCATIONS
        for response in (_redirected(307, location),)
    ),
    *(
        ResponseAttack(
            f"GET: a redirection to {location!r}", _REDIRECTIONS, response, 502, "GET", ""
        )
        for location in _LOCATIONS
        for response in (_redirected(302, location),)
    ),
    *(
        ResponseAttack(
            f"GET: the type {kind!r}", _TYPES, _events(event(BAD_RESULT), kind), 502, "GET", ""
        )
        for kind in ("text/plain", "", _JSON, "text/event-stream; charset=utf-16")
    ),
    ResponseAttack(
        "GET: a response to no request", _IDS, _events(event(BAD_RESULT)), 200, "GET", ""
    ),
]
"""Each is one test."""
