"""Attacks by a client: an invalid call in disguise, which the server must not get."""

import gzip
import json
from dataclasses import dataclass
from typing import Any

__all__ = [
    "ATTACKS",
    "BAD_CALL",
    "BODIES",
    "GOOD_CALL",
    "MEDIA",
    "READINGS",
    "RequestAttack",
    "request",
]


def _call(do: Any) -> bytes:
    params = {"name": "echo", "arguments": {"do": do}}
    message = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


BAD_CALL, GOOD_CALL = _call(5), _call("good")
_TYPE = b"content-type: application/json"
_LONG = b"[" * 50_000
_FIRST, _REST = BAD_CALL[:40], BAD_CALL[40:]


def request(
    body: bytes = BAD_CALL,
    *head: bytes,
    kind: bytes = _TYPE,
    method: bytes = b"POST",
    target: bytes = b"/mcp",
    framing: bytes | None = None,
) -> bytes:
    """Return the bytes of a request of 2025-11-25, with more lines in its *head*."""
    lines = [
        b"%b %b HTTP/1.1" % (method, target),
        b"host: localhost",
        b"accept: application/json, text/event-stream",
        b"mcp-protocol-version: 2025-11-25",
        b"content-length: %d" % len(body) if framing is None else framing,
        *((kind,) if kind else ()),
        *head,
    ]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


@dataclass(frozen=True, slots=True)
class RequestAttack:
    """A request, its expected outcome, and the expected bytes at the server."""

    name: str
    #: The bound or rule that holds it.
    rule: str
    request: bytes
    #: The status of the response; 0 if the connection is closed.
    status: int
    #: Method and target of the request at the server.
    reaches: tuple[str, ...] = ()


def _chunked(*chunks: bytes, extension: bytes = b"") -> bytes:
    return b"".join(b"%x%b\r\n%b\r\n" % (len(c), extension, c) for c in (*chunks, b""))


_ENCODINGS = "a message is UTF-8 without a mark: all else is not JSON (RFC 8259, section 8.1)"
_ONE_TYPE = "one media type, without parameters but the charset UTF-8"
_ONE_READING = "what readers may take for different messages does not pass"
_PATHS = "what may be the endpoint by another spelling is not known to be another path"
_METHODS = "POST alone has a message: other methods pass without a body, or not at all"
_FRAMING = "the proxy frames the body anew; what can be framed in two ways is rejected"
#: Content types with which readers may find another message, by name.
MEDIA = {
    "charset UTF-7": b"application/json; charset=utf-7",
    "charset UTF-16 in quotes": b'application/json; x=1; Charset="UTF-16LE"',
    "charset in sections": b"application/json; charset*0=utf-; charset*1=7",
    "charset by RFC 2231": b"application/json; charset*=utf-8''utf-16",
    "charset twice": b"application/json; charset=utf-8; charset=utf-7",
    "charset behind a quote": b'application/json; x="; charset=utf-16"',
    "two types in one header": b"application/json, text/plain",
    "a type behind another": b"text/plain, application/json",
}
#: Bodies that are no message in UTF-8, by name.
BODIES = {
    "UTF-16LE": BAD_CALL.decode().encode("utf-16-le"),
    "UTF-16 with a mark": BAD_CALL.decode().encode("utf-16"),
    "UTF-32BE": BAD_CALL.decode().encode("utf-32-be"),
    "UTF-32 with a mark": BAD_CALL.decode().encode("utf-32"),
    "UTF-8 with a mark": b"\xef\xbb\xbf" + BAD_CALL,
    "gzip that no header names": gzip.compress(BAD_CALL),
    "a batch of 1,001": b"[%b]" % b",".join([BAD_CALL] * 1_001),
    "not JSON behind the message": BAD_CALL + b"}",
    "two messages": BAD_CALL + b"\n" + BAD_CALL,
    "50,000 open brackets": _LONG,
    "50,000 quotes": b'{"a":' + b'"' * 50_000,
}
#: Invalid calls that some readers take for valid ones, by name.
READINGS = {
    "a name twice": BAD_CALL.replace(b'"name"', b'"name": "none", "name"'),
    "params twice": BAD_CALL.replace(b'"params"', b'"params": {}, "params"'),
    "another case": BAD_CALL.replace(b'"arguments"', b'"Arguments"'),
    "a letter that folds": BAD_CALL.replace(b'"params"', b'"param\xc5\xbf"'),
    "an escaped name twice": BAD_CALL.replace(
        b'"arguments"', b'"arguments": {}, "\\u0061rguments"'
    ),
    "NaN": BAD_CALL.replace(b"5}", b"NaN}"),
    "a trailing comma": BAD_CALL[:-1] + b",}",
    "a comment": BAD_CALL[:-1] + b"/**/}",
    "a method beside its call": BAD_CALL.replace(b'"method"', b'"method": "ping", "METHOD"'),
}
_TARGETS = {
    b"/mcp/": 200,
    b"/MCP": 200,
    b"/%6dcp": 200,
    b"//mcp": 200,
    b"/mcp?x": 200,
    b"/mcp%2f": 200,
    b"/mcp/.": 404,
    b"/x/../mcp": 404,
    b"/x/%2e%2e/mcp": 404,
    b"/x/%252e%252e/mcp": 404,
    b"/mcp#": 404,
    b"/mcp%23": 404,
    b"/mcp;a=b": 404,
    b"/mcp%00": 404,
    b"/mcp%20": 404,
    b"/mcp.json": 404,
    b"\\mcp": 400,
    b"/\\mcp": 404,
    b"/token/../mcp": 404,
    b"/.well-known/../mcp": 404,
    b"/token": 404,
    b"http://localhost/mcp": 400,
    b"*": 400,
}
_FRAMINGS: dict[str, tuple[bytes, int]] = {
    "two lengths": (
        request(framing=b"content-length: 5\r\ncontent-length: %d" % len(BAD_CALL)),
        400,
    ),
    "a length and chunks": (
        request(_chunked(BAD_CALL), framing=b"content-length: 4\r\ntransfer-encoding: chunked"),
        200,
    ),
    "chunks that end early": (
        request(_chunked(b"{}") + BAD_CALL, framing=b"transfer-encoding: chunked"),
        202,
    ),
    "chunks with extensions": (
        request(
            _chunked(_FIRST, _REST, extension=b';a="\\\r'), framing=b"transfer-encoding: chunked"
        ),
        200,
    ),
    "another transfer encoding": (
        request(_chunked(BAD_CALL), framing=b"transfer-encoding: gzip, chunked"),
        400,
    ),
    "a length with a sign": (request(framing=b"content-length: +%d" % len(BAD_CALL)), 400),
    "a folded length": (request(framing=b"content-length:\r\n %d" % len(BAD_CALL)), 200),
    "a folded type": (request(kind=b"content-type: application/json;\r\n charset=utf-7"), 415),
    "line feeds alone": (request().replace(b"\r\n", b"\n"), 200),
    "a space before the colon": (request(BAD_CALL, b"content-length : 5"), 400),
    "a request in a body": (request(b"{}" + request(), framing=b"content-length: 2"), 202),
}

ATTACKS = [
    *(
        RequestAttack(name, _ONE_TYPE, request(kind=b"content-type: " + kind), 415)
        for name, kind in MEDIA.items()
    ),
    RequestAttack("two types", _ONE_TYPE, request(BAD_CALL, b"content-type: text/plain"), 415),
    *(RequestAttack(name, _ENCODINGS, request(body), 200) for name, body in BODIES.items()),
    RequestAttack(
        "gzip",
        "a body that is not encoded is validated, whatever its header",
        request(gzip.compress(BAD_CALL), b"content-encoding: gzip"),
        415,
    ),
    RequestAttack(
        "identity twice",
        "a body that is not encoded is validated, whatever its header",
        request(BAD_CALL, b"content-encoding: identity", b"content-encoding: identity"),
        200,
    ),
    *(RequestAttack(name, _ONE_READING, request(body), 200) for name, body in READINGS.items()),
    RequestAttack("an array of an array", _ONE_READING, request(b"[[%b]]" % BAD_CALL), 202),
    *(
        RequestAttack(f"the target {target.decode()}", _PATHS, request(target=target), status)
        for target, status in _TARGETS.items()
    ),
    *(
        RequestAttack(f"the method {method}", _METHODS, request(method=method.encode()), status)
        for method, status in {"PUT": 405, "PATCH": 405, "TRACE": 405, "post": 405}.items()
    ),
    RequestAttack("a body of GET", _METHODS, request(method=b"GET"), 502, reaches=("GET /mcp",)),
    RequestAttack(
        "a body of DELETE", _METHODS, request(method=b"DELETE"), 200, reaches=("DELETE /mcp",)
    ),
    RequestAttack(
        "another method in a header",
        _METHODS,
        request(BAD_CALL, b"x-http-method-override: POST", method=b"DELETE"),
        200,
        reaches=("DELETE /mcp",),
    ),
    RequestAttack("a body of OPTIONS", _METHODS, request(method=b"OPTIONS"), 415),
    *(RequestAttack(name, _FRAMING, *framing) for name, framing in _FRAMINGS.items()),
    RequestAttack(
        "an underscore in place of a hyphen",
        "a header that servers may take for one that is checked does not pass",
        request(BAD_CALL, b"Content_Type: application/json; charset=utf-7"),
        400,
    ),
    RequestAttack(
        "a header that is not UTF-8",
        "headers pass as they are, or not at all",
        request(BAD_CALL, b"x-name: caf\xe9"),
        400,
    ),
    RequestAttack(
        "a page of another origin",
        "pages call by --allow-origin alone",
        request(BAD_CALL, b"origin: http://localhost.evil.example"),
        403,
    ),
    RequestAttack(
        "a name that resolves to this machine",
        "programs call by the names of the host",
        request().replace(b"host: localhost", b"host: evil.example"),
        403,
    ),
    RequestAttack(
        "a body of 2,000,001 bytes",
        "--max-message-bytes",
        request(BAD_CALL.ljust(2_000_001)),
        413,
    ),
    RequestAttack(
        "a tool that is not pinned",
        "--pins locked",
        request(GOOD_CALL.replace(b"echo", b"other")),
        200,
        reaches=(),
    ),
]
"""Each is one test."""
