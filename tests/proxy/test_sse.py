"""Server-sent events, in whatever pieces they come."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.proxy.sse import Event, EventReader, EventTooLongError

STREAMS = {
    "one line": (b"data: {}\n\n", [b"{}"]),
    "without a space": (b"data:{}\n\n", [b"{}"]),
    "two spaces": (b"data:  {}\n\n", [b" {}"]),
    "several lines": (b"data: {\ndata: }\n\n", [b"{\n}"]),
    "line breaks of two characters": (b"id: 1\r\ndata: {}\r\n\r\n", [b"{}"]),
    "a comment": (b": hello\n\ndata: {}\n\n", [None, b"{}"]),
    "no data": (b"id: 1\nretry: 5\n\n", [None]),
    "empty data": (b"id: 1\ndata:\n\n", [b""]),
    "a field that begins alike": (b"database: 1\n\n", [None]),
    "text": ("data: é\n\n".encode(), ["é".encode()]),
    "line breaks of old": (b"id: 1\rdata: {}\r\rdata: 2\r\r", [b"{}", b"2"]),
    "mixed line breaks": (b"data: {\rdata: }\r\n\rdata: 2\n\r\n", [b"{\n}", b"2"]),
    "a byte order mark": ("\ufeffdata: {}\n\n\ufeffdata: 2\n\n".encode(), [b"{}", None]),
    "an event without its end": (b"data: 1\n\ndata: 2\n", [b"1"]),
}


@pytest.mark.parametrize("name", STREAMS)
@given(sizes=st.lists(st.integers(1, 8), max_size=40))
def test_pieces_make_no_difference(name: str, sizes: list[int]) -> None:
    """The bytes of all events, and what is left, are those of the stream."""
    stream, expected = STREAMS[name]
    reader, events, start = EventReader(1000), list[Event](), 0
    for size in [*sizes, len(stream)]:
        events += reader.feed(stream[start : start + size])
        start += size

    # The second half of a line break comes by itself if the first has ended an event.
    assert expected == [event.data for event in events if event.text != b"\n"]
    assert stream == b"".join(event.text for event in events) + reader.rest()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"data: {}\n\n", b"data: [1]\n\n"),
        (
            b"event: message\r\nid: 1\r\ndata: {\r\ndata: }\r\n\r\n",
            b"event: message\nid: 1\ndata: [1]\n\n",
        ),
        (b"data\nid: 2\n\n", b"id: 2\ndata: [1]\n\n"),
        ("\ufeffdata: {}\r\r".encode(), b"data: [1]\n\n"),
    ],
)
def test_other_data_keeps_the_fields_of_the_event(text: bytes, expected: bytes) -> None:
    """So that the stream can be resumed after it."""
    [event] = EventReader(1000).feed(text)

    assert expected == event.with_data(b"[1]")


def test_other_data_in_several_lines() -> None:
    """Each is a line of data."""
    [event] = EventReader(1000).feed(b"data: {}\n\n")

    assert b"data: [\ndata: 1]\n\n" == event.with_data(b"[\r\n1]")


def test_an_event_over_the_limit() -> None:
    """Also without the end of a line."""
    reader = EventReader(10)
    with pytest.raises(EventTooLongError):
        list(reader.feed(b"data: 12345"))
