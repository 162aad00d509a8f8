"""Attacks in exchanges that Envoy hands over, by either side or in an order that it never has."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from attacks.requests import BAD_CALL, GOOD_CALL, MEDIA, READINGS
from attacks.requests import BODIES as REQUEST_BODIES
from attacks.responses import BAD_RESULT, BODIES, GOOD_RESULT, STREAMS, event
from sidecheck_server.gateways.generated.external_processor_pb2 import ProcessingRequest
from support.ext_proc_exchange import part, request_body, response_body

__all__ = ["ATTACKS", "CALL", "EVENTS", "POST", "ExchangeAttack", "quotes"]

#: A part of an exchange, or bytes in its place.
Part: TypeAlias = ProcessingRequest | bytes


@dataclass(frozen=True, slots=True)
class ExchangeAttack:
    """Parts of an exchange, and the last answer of the gateway, as `relay` words it."""

    name: str
    #: The bound or rule that holds it.
    rule: str
    parts: tuple[Part, ...]
    answer: str


def _post(
    *fields: tuple[str, str],
    method: str = "POST",
    path: str = "/mcp",
    kind: str = "application/json",
    version: str = "2025-11-25",
) -> ProcessingRequest:
    """Return the headers of a request."""
    own = [(":method", method), (":path", path), ("mcp-protocol-version", version)]
    return part("request_headers", *own, *([("content-type", kind)] if kind else []), *fields)


def _response(
    kind: str = "application/json", status: str = "200", *fields: tuple[str, str]
) -> ProcessingRequest:
    """Return the headers of a response."""
    own = [(":status", status)] if status else []
    return part("response_headers", *own, *([("content-type", kind)] if kind else []), *fields)


POST, _GET = _post(), _post(method="GET", kind="")
CALL: tuple[Part, ...] = (POST, request_body(GOOD_CALL))
_JSON, EVENTS = _response(), _response("text/event-stream")


def _request(body: bytes, headers: ProcessingRequest = POST) -> tuple[Part, ...]:
    return headers, request_body(body)


def _result(body: bytes, headers: ProcessingRequest = _JSON) -> tuple[Part, ...]:
    """Return the exchange of a valid call with a response of one *body*."""
    return (*CALL, headers, response_body(body, is_last=True))


def _events(*chunks: bytes) -> tuple[Part, ...]:
    """Return the exchange of a valid call with a stream of *chunks*."""
    return (*CALL, EVENTS, *map(response_body, chunks), response_body(b"", is_last=True))


def _single_bytes(text: bytes) -> Iterator[bytes]:
    return (text[at : at + 1] for at in range(len(text)))


def quotes(count: int) -> bytes:
    """Return a text in which each of *count* quotes could begin a string."""
    return b'{"' + b'\\"' * count + b"}"


def _batch(message: bytes, count: int) -> bytes:
    return b"[%b]" % b",".join([message] * count)


_NOT_JSON, _INVALID, _TYPE = "200 error -32700", "200 error -32600", "415 error -32600"
_FAILED_CALL = "200 failed tool"
_FAILED = "the client gets error -32603"
_UNREAD = "502 error -32603"
_CLEARED = "the server gets no body"

_ENCODINGS = "a message is UTF-8 without a mark: all else is not JSON (RFC 8259, section 8.1)"
_ONE_TYPE = "one media type, without parameters but the charset UTF-8"
_ONE_READING = "what readers may take for different messages does not pass"
_ENCODED = "a body that is encoded is not read"
_METHODS = "POST alone has a message: other methods pass without a body, or not at all"
_PATHS = "each path of a route is validated alike"
_ORDER = "an exchange has one request and one response, each with headers before its body"
_PAYLOAD = "limits.payload_bytes"
_MESSAGE = "the largest message of gRPC, 4 MiB"
_BATCHES = "a batch has 1,000 messages at most, each with a verdict"
_ROUTES = "the route is what Envoy says: headers of clients are not"
_LINES = "events are written anew, with the fields of the specification"
_IDS = "a response has the id of its request, and there is one"
_ERRORS = "a result with the status of an error is none"
_STREAM_OF_GET = "a GET has events, or no response"
_NOTHING = "what is valid passes"

_HEADERS_FIRST = "INVALID_ARGUMENT: request_header_mode must be SEND in Envoy's processing_mode"
_RESPONSE_FIRST = "INVALID_ARGUMENT: response_header_mode must be SEND in Envoy's processing_mode"
_TWO_REQUESTS = "INVALID_ARGUMENT: the headers of the request were sent before"
_TWO_BODIES = "INVALID_ARGUMENT: the body of the request was sent before"
_NO_STATUS = "INVALID_ARGUMENT: the headers of the response have no status"
_NO_MESSAGE = (
    "INVALID_ARGUMENT: the request is not a message of the type "
    "envoy.service.ext_proc.v3.ProcessingRequest"
)

#: Answers to readings that differ from that of the others.
_READINGS = dict.fromkeys(("NaN", "a trailing comma", "a comment"), _NOT_JSON)
_READINGS["a letter that folds"] = "200 error -32602"

#: The mark is removed, and the message validated.
_MARKED = "UTF-8 with a mark"

_INVALID_PING = b'{"jsonrpc":"1.0","id":1,"method":"ping"}'

_REQUESTS: dict[str, tuple[str, tuple[Part, ...], str]] = {
    **{
        name: (_ONE_TYPE, _request(BAD_CALL, _post(kind=kind.decode())), _TYPE)
        for name, kind in MEDIA.items()
    },
    "two types": (_ONE_TYPE, _request(BAD_CALL, _post(("content-type", "text/plain"))), _TYPE),
    "no type": (_ONE_TYPE, _request(BAD_CALL, _post(kind="")), _FAILED_CALL),
    **{
        name: (_ENCODINGS, _request(body), _INVALID if "batch" in name else _NOT_JSON)
        for name, body in REQUEST_BODIES.items()
        if name != _MARKED
    },
    _MARKED: (_ENCODINGS, _request(REQUEST_BODIES[_MARKED]), _FAILED_CALL),
    "gzip": (
        _ENCODED,
        _request(gzip.compress(BAD_CALL), _post(("content-encoding", "gzip"))),
        "415",
    ),
    "identity twice": (
        _ENCODED,
        _request(BAD_CALL, _post(*[("content-encoding", "identity")] * 2)),
        "415",
    ),
    **{
        name: (_ONE_READING, _request(body), _READINGS.get(name, _INVALID))
        for name, body in READINGS.items()
    },
    "300,000 quotes": (_ONE_READING, _request(quotes(300_000)), _NOT_JSON),
    "an array of an array": (_ONE_READING, _request(b"[[%b]]" % BAD_CALL), "202"),
    "an underscore in place of a hyphen": (
        "a header that servers may take for one that is checked does not pass",
        _request(GOOD_CALL, _post(("content_type", "application/json; charset=utf-7"))),
        "400",
    ),
    "a batch of 1,000 where there are none": (
        _BATCHES,
        _request(_batch(BAD_CALL, 1_000)),
        "200 1000 x error -32600",
    ),
    "a batch of 1,000 invalid calls": (
        _BATCHES,
        _request(_batch(BAD_CALL, 1_000), _post(version="2025-03-26")),
        "200 1000 x error -32600",
    ),
    "a batch with more errors than a verdict lists": (
        _BATCHES,
        _request(_batch(_INVALID_PING, 1_000), _post(version="2025-03-26")),
        "200 1000 x error -32600",
    ),
    "a body of 2 MB": (_PAYLOAD, _request(BAD_CALL.ljust(2_000_000)), "200 error -32603"),
    "a body of 5 MB": (
        _MESSAGE,
        _request(BAD_CALL.ljust(5_000_000)),
        "RESOURCE_EXHAUSTED: SERVER: Received message larger than max (5000012 vs. 4194304)",
    ),
    "10,000 headers": (
        "large headers count in transport.bytes_in_flight",
        _request(BAD_CALL, _post(*((f"x-{number}", "y") for number in range(10_000)))),
        _FAILED_CALL,
    ),
    "a header of 3 MB": (
        "large headers count in transport.bytes_in_flight",
        _request(BAD_CALL, _post(("x", "y" * 3_000_000))),
        _FAILED_CALL,
    ),
    "a header of 5 MB": (
        _MESSAGE,
        _request(BAD_CALL, _post(("x", "y" * 5_000_000))),
        "RESOURCE_EXHAUSTED: SERVER: Received message larger than max (5000125 vs. 4194304)",
    ),
    "policies in headers": (
        _ROUTES,
        _request(BAD_CALL, _post(("sidecheck-arguments", "off"), ("sidecheck-server", "other"))),
        _FAILED_CALL,
    ),
    "a session that is not known": (
        _ROUTES,
        _request(BAD_CALL, _post(("mcp-session-id", "x" * 4_000))),
        _FAILED_CALL,
    ),
    "a version that is not known": (
        _ROUTES,
        _request(BAD_CALL, _post(version="9999-01-01")),
        "400 error -32602",
    ),
    "a tool that was not listed": (
        "what cannot be validated does not pass",
        _request(GOOD_CALL.replace(b"echo", b"other")),
        "200 error -32603",
    ),
    **{
        f"the method {method!r}": (_METHODS, _request(BAD_CALL, _post(method=method)), "405")
        for method in ("PUT", "PATCH", "TRACE", "CONNECT", "post", "")
    },
    **{
        f"a body of {method}": (_METHODS, _request(BAD_CALL, _post(method=method)), _CLEARED)
        for method in ("GET", "DELETE", "HEAD", "OPTIONS")
    },
    "another method in a header": (
        _METHODS,
        _request(BAD_CALL, _post(("x-http-method-override", "POST"), method="DELETE")),
        _CLEARED,
    ),
    **{
        f"the path {path}": (_PATHS, _request(BAD_CALL, _post(path=path)), _FAILED_CALL)
        for path in ("/mcp/", "/MCP", "/%6dcp", "/mcp/x", "/token", "/.well-known/../mcp", "/sse")
    },
    "a valid call": (_NOTHING, CALL, "the server gets tools/call"),
}

_ORDERS: dict[str, tuple[tuple[Part, ...], str]] = {
    "no message": ((b"\xff" * 1_000,), _NO_MESSAGE),
    "a body before headers": ((request_body(BAD_CALL),), _HEADERS_FIRST),
    "a response before its request": ((_JSON, response_body(BAD_RESULT)), _HEADERS_FIRST),
    "a body of a response before its headers": (
        (*CALL, response_body(BAD_RESULT)),
        _RESPONSE_FIRST,
    ),
    "headers twice": ((POST, POST, request_body(BAD_CALL)), _TWO_REQUESTS),
    "a body twice": ((*CALL, request_body(BAD_CALL)), _TWO_BODIES),
    "a response before the body of its request": (
        (POST, _JSON, response_body(BAD_RESULT, is_last=True)),
        "the client gets no message",
    ),
    "a body behind its response": ((POST, _JSON, request_body(BAD_CALL)), _FAILED_CALL),
    "a chunk behind the last": (
        (
            *CALL,
            EVENTS,
            response_body(event(GOOD_RESULT), is_last=True),
            response_body(event(BAD_RESULT)),
        ),
        "the client gets result",
    ),
    "a second body behind the response": (
        (*_result(GOOD_RESULT), response_body(BAD_RESULT)),
        "the client gets result",
    ),
    "headers of an error, then of a result": (
        (*CALL, _response(status="500"), _JSON, response_body(BAD_RESULT)),
        "the client gets no message",
    ),
    **{
        f"the status {status[:5]!r}": ((*CALL, _response(status=status)), _NO_STATUS)
        for status in ("x", "", "0", "-1", "200, 200", "9" * 5_000)
    },
    "two statuses": ((*CALL, _response("", "200", (":status", "200"))), _NO_STATUS),
}

_RESULTS: dict[str, tuple[str, tuple[Part, ...], str]] = {
    **{
        f"JSON: {name}": (
            _ENCODINGS,
            _result(body),
            "the client gets failed tool" if name == _MARKED else _FAILED,
        )
        for name, body in BODIES.items()
    },
    "JSON: gzip": (
        _ENCODED,
        _result(
            gzip.compress(BAD_RESULT),
            _response("application/json", "200", ("content-encoding", "gzip")),
        ),
        "200 error -32603",
    ),
    "JSON: 300,000 quotes": (_ONE_READING, _result(quotes(300_000)), _FAILED),
    "JSON: a result twice": (
        _ONE_READING,
        _result(BAD_RESULT.replace(b'"result"', b'"result":{},"result"')),
        _FAILED,
    ),
    "JSON: nothing": ("each request is answered", _result(b""), _FAILED),
    "JSON: 2 MB": (_PAYLOAD, _result(BAD_RESULT.ljust(2_000_000)), _FAILED),
    "JSON: an invalid result": (_NOTHING, _result(BAD_RESULT), "the client gets failed tool"),
    "JSON: a valid result": (_NOTHING, _result(GOOD_RESULT), "the client gets result"),
    **{
        f"events: {name}": (
            _LINES,
            _events(body),
            "the client gets failed tool" if name == "the id as a fraction" else _FAILED,
        )
        for name, body in STREAMS.items()
    },
    **{
        f"events: {end!a} in a comment": (
            _LINES,
            _events(f": a{end}".encode() + event(BAD_RESULT)),
            _FAILED,
        )
        for end in ("\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029")
    },
    "events: an invalid result in single bytes": (
        _LINES,
        _events(*_single_bytes(event(BAD_RESULT))),
        "the client gets failed tool",
    ),
    "events: a valid result in single bytes": (
        _NOTHING,
        _events(*_single_bytes(event(GOOD_RESULT))),
        "the client gets result",
    ),
    "events: one that does not end": (
        _PAYLOAD,
        _events(*[b"data: " + b"x" * 1_000_000] * 5, event(BAD_RESULT)),
        _FAILED,
    ),
    "events: a chunk of 3 MB": (
        _PAYLOAD,
        _events(b"x" * 3_000_000, event(BAD_RESULT)),
        _FAILED,
    ),
    "events: 300,000 quotes": (_ONE_READING, _events(event(quotes(300_000))), _FAILED),
    "events: a second response": (
        _IDS,
        _events(event(GOOD_RESULT) + event(BAD_RESULT)),
        "the client gets result",
    ),
    **{
        f"the type {kind!r}": (_ONE_TYPE, _result(body, _response(kind)), _UNREAD)
        for body, kinds in (
            (
                BAD_RESULT,
                (
                    "",
                    "text/plain",
                    "text/html",
                    "application/json, text/plain",
                    "application/json; charset=utf-16",
                    "application/json; charset*0=utf-16",
                    'application/json; x="; charset=utf-16"',
                ),
            ),
            (
                event(BAD_RESULT),
                (
                    "text/event-stream; charset*0=utf-16",
                    "text/event-stream; charset=utf-7",
                ),
            ),
        )
        for kind in kinds
    },
    "two types": (
        _ONE_TYPE,
        _result(BAD_RESULT, _response("application/json", "200", ("content-type", "text/plain"))),
        _UNREAD,
    ),
    "a type in capitals": (
        _ONE_TYPE,
        _result(event(BAD_RESULT), _response("TEXT/EVENT-STREAM")),
        "the client gets failed tool",
    ),
    **{
        f"text with the status {status}": (
            _ERRORS,
            _result(BAD_RESULT, _response("text/plain", status)),
            "502",
        )
        for status in ("300", "307", "400", "404", "500")
    },
    **{
        f"JSON with the status {status}": (
            _ERRORS,
            _result(BAD_RESULT, _response(status=status)),
            "502",
        )
        for status in ("400", "404", "500")
    },
    **{
        f"events with the status {status}": (
            _ERRORS,
            _result(event(BAD_RESULT), _response("text/event-stream", status)),
            "the client gets no message",
        )
        for status in ("400", "404", "500")
    },
    "JSON with the status 300": (
        _NOTHING,
        _result(BAD_RESULT, _response(status="300")),
        "the client gets failed tool",
    ),
    "an accepted call with text": (
        "each request is answered",
        _result(BAD_RESULT, _response("text/plain", "202")),
        "200 error -32603",
    ),
    **{
        f"GET: the type {kind!r}": (
            _STREAM_OF_GET,
            (_GET, _response(kind), response_body(event(BAD_RESULT))),
            "502",
        )
        for kind in ("", "text/plain", "application/json", "text/event-stream; charset=utf-16")
    },
    "GET: a response to no request": (
        _IDS,
        (_GET, EVENTS, response_body(event(BAD_RESULT))),
        "the client gets no message",
    ),
    "GET: a result with the status 400": (
        _ERRORS,
        (_GET, _response(status="400"), response_body(BAD_RESULT)),
        "502",
    ),
}

ATTACKS = [
    *(ExchangeAttack(f"request: {name}", *row) for name, row in _REQUESTS.items()),
    *(ExchangeAttack(f"order: {name}", _ORDER, *row) for name, row in _ORDERS.items()),
    *(ExchangeAttack(f"response: {name}", *row) for name, row in _RESULTS.items()),
]
"""Each is one test."""
