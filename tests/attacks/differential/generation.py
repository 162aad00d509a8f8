"""Generates exchanges in spellings that readers may take in different ways, from seeds."""

import gzip
import json
import random
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from attacks.requests import BAD_CALL, GOOD_CALL
from attacks.responses import BAD_RESULT, GOOD_RESULT

__all__ = ["Case", "event_case", "is_invalid", "request_case", "response_case", "shrunk"]

_Random: TypeAlias = random.Random

_NOTIFICATION = (
    b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"evil","data":1}}'
)
_ATTEMPTS = 400


@dataclass(frozen=True, slots=True)
class Case:
    """The head of a request or response, line by line, and its body; events have no head."""

    method: str
    lines: tuple[bytes, ...]
    body: bytes
    #: How the body is framed: by a length, in chunks, or by the end of the connection.
    framing: str = "length"
    #: Where the body is divided.
    divisions: tuple[int, ...] = ()

    def chunks(self) -> list[bytes]:
        """Return the body, divided."""
        places = [0, *sorted(place for place in self.divisions if place < len(self.body))]
        return [self.body[a:b] for a, b in zip(places, [*places[1:], len(self.body)], strict=True)]

    def text(self) -> bytes:
        """Return all bytes of the case."""
        lines, body = [*self.lines], self.body
        if self.framing == "length":
            lines.append(b"content-length: %d" % len(body))
        elif self.framing == "chunks":
            lines.append(b"transfer-encoding: chunked")
            pieces = [piece for piece in self.chunks() if piece]
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (*pieces, b""))
        return b"\r\n".join(lines) + b"\r\n\r\n" + body


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """Return the smallest case that leaving out lines and parts of the body leads to."""
    for _ in range(_ATTEMPTS):
        smaller = next((candidate for candidate in _smaller(case) if fails(candidate)), None)
        if smaller is None:
            break
        case = smaller
    return case


def _smaller(case: Case) -> list[Case]:
    candidates = [replace(case, divisions=())] if case.divisions else []
    candidates += [
        replace(case, lines=case.lines[:index] + case.lines[index + 1 :])
        for index in range(1, len(case.lines))
    ]
    size = len(case.body) // 2
    while size:
        candidates += [
            replace(case, body=case.body[:start] + case.body[start + size :])
            for start in range(0, len(case.body), size)
        ]
        size //= 2
    return candidates


def is_invalid(message: Any) -> bool:
    """Return whether *message* is one of those that must not pass."""
    if not isinstance(message, dict):
        return False
    params = message.get("params")
    if isinstance(params, dict):
        arguments = params.get("arguments")
        is_call = isinstance(arguments, dict) and arguments.get("do") == 5
        return is_call or params.get("level") == "evil"
    result = message.get("result")
    content = result.get("structuredContent") if isinstance(result, dict) else None
    return isinstance(content, dict) and content.get("n") == "evil"


# Bodies

_MARKS = ("", "\ufeff", "\ufeff\ufeff", "\u00ef\u00bb\u00bf", "\0", " ", "\xa0")


def _disguised(text: bytes, random: _Random) -> bytes:
    """Return the message *text* in another spelling, which may not be JSON any more."""
    match random.randrange(20):
        case 0:
            return random.choice(_MARKS).encode() + text
        case 1:
            return text.decode().encode(random.choice(("utf-16", "utf-16-le", "utf-32", "utf-7")))
        case 2:
            return text + random.choice((b"\n", b"\0", b"}", b" null", b"\xef\xbb\xbf", b"//"))
        case 3:
            name = random.choice((b'"params"', b'"result"', b'"method"', b'"id"', b'"name"'))
            alternative = random.choice(
                (name, name.upper(), name.title(), b'"\\u00' + b"%x" % name[1] + name[2:])
            )
            value = random.choice((b"{}", b"null", b"5", b'"ping"', b'"5"'))
            added = b"%b: %b, %b" % (alternative, value, name)
            return text.replace(name, added, 1)
        case 4:
            return b"[%b]" % b",".join([text] * random.choice((1, 2, 3)))
        case 5:
            at = random.choice((b",", b":", b"{"))
            blank = random.choice(
                (b"\n", b"\t", b"\r", b"\x0c", "\u2028".encode(), "\ufeff".encode())
            )
            return text.replace(at, at + blank, random.randrange(1, 4))
        case 6:
            character = random.choice(("\u2028", "\x85", "\x0b", "\\u2028", "\\ud800", "\xff"))
            return text.replace(b'"jsonrpc"', b'"a": "%b", "jsonrpc"' % character.encode())
        case 7:
            number = random.choice(
                (b"5.0", b'"5"', b"5e0", b"05", b"NaN", b"[5]", b"null", b"5.00")
            )
            return text.replace(b'"id": 5', b'"id": ' + number)
        case 8:
            return text.replace(
                b'"2.0"', random.choice((b'"2.0 "', b"2.0", b'"\\u0032.0"', b'"1.0"'))
            )
    return text


def _encoded(body: bytes, random: _Random) -> tuple[bytes, list[bytes]]:
    """Return *body* in an encoding, and the headers that name one, or do not."""
    match random.randrange(20):
        case 0:
            return gzip.compress(body), [b"content-encoding: gzip"]
        case 1:
            return zlib.compress(body), [b"content-encoding: deflate"]
        case 2:
            return gzip.compress(body), [b"content-encoding: x-gzip"]
        case 3:
            return gzip.compress(body), []
        case 4:
            return body, [random.choice((b"content-encoding: identity", b"Content-Encoding: "))]
        case 5:
            return body, [b"content-encoding: gzip"]
        case 6:
            return gzip.compress(gzip.compress(body)), [b"content-encoding: gzip, gzip"]
        case 7:
            return gzip.compress(body), [b"content-encoding: identity", b"content-encoding: gzip"]
    return body, []


# Heads

_CHARSETS = ("utf-8", '"utf-8"', "UTF8", "utf-16", "utf-7", "latin-1", "utf-16le", "'utf-8'", "")


def _type_line(kind: str, random: _Random) -> list[bytes]:
    """Return lines with the media type *kind* in some spelling."""
    if random.random() < 0.5:
        return [b"content-type: " + kind.encode()]
    spelled = random.choice(
        (
            kind,
            kind,
            kind,
            kind.upper(),
            kind.title(),
            kind + " ",
            " " + kind,
            f"{kind},",
            f"x/{kind}",
            f"{kind}x",
            f"text/plain, {kind}",
            f"{kind}, text/plain",
            kind.replace("/", " /"),
            "",
        )
    )
    for _ in range(random.randrange(3)):
        charset = random.choice(_CHARSETS)
        spelled += random.choice((";", "; ", " ;", ";;", ",")) + random.choice(
            (
                f"charset={charset}",
                f"CHARSET={charset}",
                f"charset*=utf-8''{charset}",
                f"charset*0={charset[:4]};charset*1={charset[4:]}",
                "boundary=a",
                'x=";"',
                f"charset ={charset}",
                f"q=1,{kind}",
                f'a="\\";charset={charset}',
            )
        )
    name = random.choice((b"content-type", b"Content-Type", b"CONTENT-TYPE"))
    lines = [name + b": " + spelled.encode()]
    match random.randrange(10):
        case 0:
            lines.append(b"content-type: text/plain")
        case 1:
            lines.insert(0, b"Content-type: text/event-stream")
        case 2:
            lines = [lines[0].replace(b";", b";\r\n ", 1)]
        case 3:
            lines.append(b"Content_Type: application/json")
    return lines


def _target(random: _Random) -> bytes:  # noqa: C901  (one case for each spelling)
    """Return a path that some may take for that of the server."""
    path = "/mcp"
    for _ in range(random.choice((0, 0, 0, 0, 1, 1, 2))):
        match random.randrange(12):
            case 0:
                path = path.replace("/", random.choice(("//", "/./", "/x/../", "\\", "/%2e/")), 1)
            case 1:
                path += random.choice(("/", "//", "/.", "/x/..", "%2f", "/%2e", ";a", "%3b", "#a"))
            case 2:
                path += random.choice(("%00", "%20", "%0a", ".", "%23", "?", "?a=b", "%3fa"))
            case 3:
                index = random.randrange(1, len(path))
                path = f"{path[:index]}%{ord(path[index]):02x}{path[index + 1 :]}"
            case 4:
                path = path.replace("%", "%25")
            case 5:
                path = path.upper()
            case 6:
                path = (
                    random.choice(("/token", "/.well-known", "/.well-known/..", "/authorize"))
                    + path
                )
            case 7:
                path = random.choice(("/token", "/register", "/mcp/sse", "/mcpx", "/"))
            case 8:
                path = (
                    random.choice(("http://localhost", "HTTP://a@localhost:80", "//localhost"))
                    + path
                )
            case 9:
                path += random.choice(("/../mcp", "/..%2fmcp", "/%2e%2e/mcp", "/..;/mcp"))
    return path.encode("latin-1", "replace").replace(b" ", b"%20")


def request_case(random: _Random) -> Case:
    """Return a request with a call that is most often invalid."""
    method = random.choice(
        ("POST",) * 20 + ("GET", "DELETE", "PUT", "OPTIONS", "PATCH", "post", "HEAD")
    )
    text = _disguised(GOOD_CALL if random.random() < 0.1 else BAD_CALL, random)
    body, encoding = _encoded(text, random)
    lines = [
        b"%b %b HTTP/1.1" % (method.encode(), _target(random)),
        b"host: localhost",
        b"accept: application/json, text/event-stream",
        *_type_line("application/json", random),
        *encoding,
    ]
    version = random.choice(("", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "x"))
    if version:
        lines.append(b"MCP-Protocol-Version: " + version.encode())
    if random.random() < 0.3:
        lines.append(b"mcp-method: tools/call\r\nmcp-name: echo")
    lines += random.sample(_MORE_LINES, random.randrange(3))
    divisions = tuple(random.randrange(1, 200) for _ in range(random.randrange(4)))
    return Case(
        method, tuple(lines), body, random.choice(("length", "length", "chunks")), divisions
    )


_MORE_LINES = [
    *(
        b"connection: close, mcp-protocol-version",
        b"connection: content-type",
        b"mcp-session-id: a",
    ),
    *(b"x-http-method-override: POST", b"expect: 100-continue", b"te: trailers", b"accept: */*"),
    *(b"mcp-protocol-version: 2025-03-26", b"content-language: en", b"trailer: content-type"),
    *(
        b"x-original-url: /mcp",
        b"x-rewrite-url: /mcp",
        b"upgrade: websocket",
        b"content-location: /mcp",
    ),
    *(b"connection: content-encoding", b"transfer_encoding: chunked", b"last-event-id: 1"),
]


def response_case(random: _Random) -> Case:
    """Return a response to a call or a GET, most often with an invalid result."""
    method = random.choice(("POST", "POST", "POST", "GET"))
    status = random.choice((200,) * 8 + (201, 202, 204, 206, 226, 300, 304, 307, 400, 404, 500))
    is_stream = method == "GET" or random.random() < 0.4
    if is_stream:
        body = event_case(random).body
    else:
        body = _disguised(GOOD_RESULT if random.random() < 0.1 else BAD_RESULT, random)
    kinds = ("text/event-stream", "application/json")
    kind = kinds[not is_stream] if random.random() < 0.9 else kinds[is_stream]
    body, encoding = _encoded(body, random)
    lines = [b"HTTP/1.1 %d Status" % status, *_type_line(kind, random), *encoding]
    if status == 307:
        lines.append(
            b"location: " + random.choice((b"/mcp", b"//a/mcp", b"/\\a/mcp", b"http://a/"))
        )
    divisions = tuple(random.randrange(1, 400) for _ in range(random.randrange(4)))
    return Case(
        method, tuple(lines), body, random.choice(("length", "length", "chunks", "end")), divisions
    )


# Events

_ENDS = (b"\n",) * 8 + (b"\r\n", b"\r\n", b"\r", b"\r", b"\n\r")
_OTHER_ENDS = (
    b"\x0b",
    b"\x0c",
    b"\x1c",
    b"\x85",
    "\x85".encode(),
    "\u2028".encode(),
    b"\0",
    b"\\n",
)
_BEFORE = (b"",) * 9 + (
    *(b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf", "\u00ef\u00bb\u00bf".encode(), b"\0", b"\xff"),
    *(b" ", b"\t", "\u200b".encode(), b"x:", b":", b"\xfe\xff"),
)
_NAMES = (b"data",) * 6 + (
    b"event",
    b"event",
    b"id",
    b"retry",
    b"",
    b"x",
    b"Data",
    b"data ",
    b"d\0ata",
)
_COLONS = (b": ",) * 6 + (b":", b":", b":  ", b":\t", b" : ", b"", b"=", "\uff1a".encode())
_EVENT_TYPES = (b"message",) * 3 + (
    *(
        b"",
        b"x",
        b"message ",
        b"Message",
        b"\xef\xbb\xbfmessage",
        b"message\0",
        b"mess\xffage",
        b"error",
    ),
)


def _data(random: _Random) -> Sequence[bytes]:
    """Return the lines of the data of an event."""
    text = random.choice((BAD_RESULT,) * 6 + (GOOD_RESULT, _NOTIFICATION, _NOTIFICATION))
    if random.random() < 0.3:
        text = _disguised(text, random)
    if random.random() < 0.1:
        text = json.dumps(json.loads(BAD_RESULT), indent=1).encode()
    if random.random() < 0.25:
        place = random.choice([i for i, byte in enumerate(text) if byte in b" ,:{}"] or [0])
        joint = random.choice((b"\n", b"\n", *_OTHER_ENDS))
        text = text[:place] + joint + text[place:]
    return text.replace(b"\r", b"\n").split(b"\n")


def event_case(random: _Random) -> Case:
    """Return a stream of events, divided anywhere."""
    parts: list[bytes] = []
    for _ in range(random.randrange(1, 4)):
        lines: list[bytes] = []
        for _ in range(random.randrange(3)):
            name = random.choice(_NAMES)
            value = random.choice(_EVENT_TYPES if name == b"event" else (b"1", b"", b"5000", b"\0"))
            lines.append(random.choice(_BEFORE) + name + random.choice(_COLONS) + value)
            if random.random() < 0.15:
                lines[-1] += random.choice(_OTHER_ENDS) + b"data: " + BAD_RESULT
        name = random.choice(_NAMES[:6] * 4 + _NAMES)
        before, colon = random.choice(_BEFORE * 2 + (b"",) * 20), random.choice(_COLONS)
        lines += [before + name + colon + line for line in _data(random)]
        random.shuffle(lines[-2:])
        end = random.choice(_ENDS)
        parts += [line + (end if random.random() < 0.9 else random.choice(_ENDS)) for line in lines]
        parts.append(random.choice((end, end, end, end, b"", b"\r", end + end)))
    stream = random.choice(_BEFORE[:2] * 8 + _BEFORE) + b"".join(parts)
    divisions = tuple(random.randrange(1, len(stream) + 1) for _ in range(random.randrange(6)))
    return Case("POST", (), stream, divisions=divisions)
