"""Streams of server-sent events through Envoy: as they come, and as the policies say."""

import json
import queue
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import httpx
import pytest
from starlette.responses import StreamingResponse
from support.gateway import Gateway

LEVEL = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":%s,"data":1}}'
NOTE = LEVEL % b'"info"' + b"\n\n"
INVALID_NOTE = LEVEL % b'"x"' + b"\n\n"
#: Beyond limits.payload_bytes.
LONG = b": " + b"x" * 1_100_000 + b"\n\n"


class OpenStream:
    """The stream of a GET, whose parts the test sends."""

    def __init__(self, gateway: Gateway, response: httpx.Response) -> None:
        self.parts: queue.SimpleQueue[bytes | None] = gateway.server.parts  # type: ignore[assignment]
        self.response = response
        self._received = response.iter_raw()
        self._text = b""

    def receive(self, text: bytes) -> None:
        """Wait until the client has got *text*, and no more."""
        while len(self._text) < len(text):
            self._text += next(self._received)
        assert text == self._text
        self._text = b""

    def rest(self) -> bytes:
        """Return what comes until the end."""
        return self._text + b"".join(self._received)


@pytest.fixture
def stream(gateway: Gateway) -> Iterator[OpenStream]:
    gateway.server.parts = queue.SimpleQueue()
    gateway.server.parts.put(b": hello\n\n")
    with gateway.client.stream("GET", gateway.url()) as response:
        opened = OpenStream(gateway, response)
        opened.receive(b": hello\n\n")
        yield opened
        opened.parts.put(None)
    gateway.server.parts = None
    gateway.received()
    gateway.server.requests.clear()
    gateway.envoy.entries(1)


def test_events_arrive_as_they_come(stream: OpenStream) -> None:
    """Each before the next is sent."""
    for _ in range(3):
        stream.parts.put(NOTE)
        stream.receive(NOTE)
    stream.parts.put(None)

    assert b"" == stream.rest()


def test_an_event_arrives_once_it_is_whole(stream: OpenStream) -> None:
    """Its parts are buffered, wherever they are split."""
    for start in range(0, len(NOTE), 11):
        stream.parts.put(NOTE[start : start + 11])
    stream.receive(NOTE)


def test_an_invalid_event_is_left_out(stream: OpenStream) -> None:
    """The other events pass."""
    stream.parts.put(INVALID_NOTE + NOTE)
    stream.receive(NOTE)


@pytest.mark.parametrize("end", [b"\r", b"\r\n"])
def test_all_ends_of_lines_are_ends(stream: OpenStream, end: bytes) -> None:
    """Everything that clients read as an event is validated; the rest is rewritten."""
    stream.parts.put((INVALID_NOTE + NOTE).replace(b"\n", end))
    stream.receive(NOTE)


def test_a_request_of_the_server_is_not_answered(stream: OpenStream) -> None:
    """The processor cannot send messages to the server."""
    stream.parts.put(b'data: {"jsonrpc":"2.0","id":1,"method":"roots/list","params":7}\n\n' + NOTE)
    stream.receive(NOTE)


def test_nothing_follows_an_event_beyond_the_limit(stream: OpenStream) -> None:
    """Its end could not be recognized."""
    stream.parts.put(LONG)
    stream.parts.put(NOTE)
    stream.parts.put(None)

    assert b"" == stream.rest()


def streamed(events: bytes) -> Callable[[Any], StreamingResponse]:
    """Return what responds by *events*, which have the id of the request."""

    def respond(message: Any) -> StreamingResponse:
        id_ = json.dumps(message["id"]).encode()

        async def parts() -> AsyncIterator[bytes]:
            yield events.replace(b"ID", id_)

        return StreamingResponse(parts(), media_type="text/event-stream")

    return respond


RESULT = b'data: {"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"n":%s}}}\n\n'
REPLACED = (
    b'data: {"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"Output validation '
    b"error: The result of echo is not valid:\\n- structuredContent.n: expected an integer, found "
    b'the string \\"x\\"\\nThe fault lies in the tool, not in the call."}],"isError":true}}\n\n'
)
UNANSWERED = (
    b'data: {"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"the server does not '
    b'respond"}}\n\n'
)
BAD_RESULT = RESULT % b'"x"'
#: The bytes of the server, the bytes at the client, and the code.
RESPONSES = {
    "a result": (NOTE + RESULT % b"1", NOTE + RESULT % b"1", ""),
    "an invalid result": (NOTE + b"id: 1\n" + BAD_RESULT, NOTE + b"id: 1\n" + REPLACED, "TYPE"),
    "in several lines": (
        BAD_RESULT.replace(b',"result', b',\ndata: "result'),
        REPLACED,
        "TYPE",
    ),
    "after a byte order mark": (b"\xef\xbb\xbf" + BAD_RESULT, REPLACED, "TYPE"),
    "half an event": (NOTE + b'data: {"jsonrpc"', NOTE + UNANSWERED, ""),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_a_stream_in_response_to_a_call(gateway: Gateway, name: str) -> None:
    """Its events are validated as they come, with the length that is left."""
    sent, expected, code = RESPONSES[name]
    gateway.server.replace = streamed(sent)
    response = gateway.call()
    gateway.server.replace = lambda _: None
    [call] = gateway.received()

    id_ = str(call["id"]).encode()
    assert expected.replace(b"ID", id_) == response.content
    [entry] = gateway.envoy.entries(1)
    assert ("rejected" if code else "valid", code) == (entry["verdict"], entry["code"])


def test_a_list_with_a_broken_tool_in_several_lines(gateway: Gateway) -> None:
    """The remaining list is one event."""
    tool = b'{\ndata: "name":"echo","inputSchema":{\ndata: "type":"object"}}'
    event = b'data: {"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":1},%s]}}\n\n' % tool
    gateway.server.replace = streamed(event)
    response = gateway.post("tools/list")
    gateway.server.replace = lambda _: None
    gateway.received()
    # The others get the tool back.
    gateway.post("tools/list")
    gateway.received()

    data = b"\n".join(line.removeprefix(b"data: ") for line in response.content.splitlines())
    assert [{"name": "echo", "inputSchema": {"type": "object"}}] == json.loads(data)["result"][
        "tools"
    ]
    assert response.content.startswith(b"data: ")
    gateway.envoy.entries(2)
