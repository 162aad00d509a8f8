"""Server-sent events in chunks of any size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sidecheck_server.proxy.http.sse import Event, EventReader, EventTooLongError

STREAMS = {
    "one line": (b"data: {}\n\n", [b"{}"]),
    "without a space": (b"data:{}\n\n", [b"{}"]),
    "two spaces": (b"data:  {}\n\n", [b" {}"]),
    "several lines": (b"data: {\ndata: }\n\n", [b"{\n}"]),
    "line breaks of two characters": (b"id: 1\r\ndata: {}\r\n\r\n", [b"{}"]),
    "a comment": (b": hello\n\ndata: {}\n\n", [None, None, b"{}"]),
    "no data": (b"id: 1\nretry: 5\n\n", [None]),
    "empty data": (b"id: 1\ndata:\n\n", [b""]),
    "a field that begins alike": (b"database: 1\n\n", [None]),
    "text": ("data: é\n\n".encode(), ["é".encode()]),
    "returns": (b"id: 1\rdata: {}\r\rdata: 2\r\r", [b"{}", b"2"]),
    "all line ends": (b"data: 1\r\r\ndata: 2\n\rdata: 3\r\n\n", [b"1", b"2", b"3"]),
    "comments without an end": (b":\r\n: still here\ndata: 1\n\n", [None, None, b"1"]),
    "a comment in an event": (b"data: 1\n: here\ndata: 2\n\n", [b"1\n2"]),
    "a blank line": (b"\ndata: 1\n\n", [None, b"1"]),
    "a mark that is not at the start": (b"\n\xef\xbb\xbfdata: 1\n\n", [None, None]),
    "an event without its end": (b"data: 1\n\ndata: 2\n", [b"1"]),
}


@pytest.mark.parametrize("name", STREAMS)
@given(sizes=st.lists(st.integers(1, 8), max_size=40))
def test_pieces_make_no_difference(name: str, sizes: list[int]) -> None:
    """The events and the remaining bytes are those of the whole stream."""
    stream, expected = STREAMS[name]
    reader, events, start = EventReader(1000), list[Event](), 0
    for size in [*sizes, len(stream)]:
        events += reader.feed(stream[start : start + size])
        start += size

    assert expected == [event.data for event in events]
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
        (b"id: 3\rdata: {}\r\r", b"id: 3\ndata: [1]\n\n"),
    ],
)
def test_other_data_keeps_the_fields_of_the_event(text: bytes, expected: bytes) -> None:
    """The stream can be resumed after it."""
    [event] = EventReader(1000).feed(text)

    assert expected == event.with_data(b"[1]")


def test_data_of_several_lines_stays_one_event() -> None:
    """A line of its own without a name would be a field that readers ignore."""
    [event] = EventReader(1000).feed(b"id: 1\ndata: {}\n\n")
    [changed] = EventReader(1000).feed(event.with_data(b'{\n "a": 1\n}'))

    assert b'{\n "a": 1\n}' == changed.data


def test_a_byte_order_mark_is_ignored() -> None:
    """Readers ignore it (section 9.2.5), so the data is data."""
    reader = EventReader(1000)
    events = [*reader.feed(b"\xef"), *reader.feed(b"\xbb\xbfdata: 1\n\n")]

    assert [b"1"] == [event.data for event in events]


def test_an_event_is_complete_with_its_last_byte() -> None:
    """It does not wait for a line feed after a carriage return."""
    reader = EventReader(1000)

    assert [b"1"] == [event.data for event in reader.feed(b"data: 1\r\n\r")]
    assert [b"2"] == [event.data for event in reader.feed(b"\ndata: 2\r\r")]


def test_comments_do_not_add_up_to_an_event_over_the_limit() -> None:
    """A stream is kept alive by them for as long as it takes."""
    reader = EventReader(10)

    assert 100 == sum(len(list(reader.feed(b": ping\n"))) for _ in range(100))


@pytest.mark.parametrize(
    ("text", "type_", "has_id"),
    [
        (b"data: 1\n\n", b"message", False),
        (b"event: ping\nid\ndata: 1\n\n", b"ping", True),
        (b"event: ping\nevent:\nidea: 1\n\n", b"message", False),
    ],
)
def test_fields_of_an_event(text: bytes, type_: bytes, has_id: bool) -> None:
    """Browsers read them the same way."""
    [event] = EventReader(1000).feed(text)

    assert (type_, has_id) == (event.type, event.has_id)


def test_an_event_over_the_limit() -> None:
    """It may have no end of a line."""
    reader = EventReader(10)
    with pytest.raises(EventTooLongError):
        list(reader.feed(b"data: 12345"))


@pytest.mark.parametrize(
    ("long_event", "next_event"),
    [
        (b"data: 1234567890\n\n", b"data: 2\n\n"),
        (b"data: 1234567890\r\n\r\n", b"data: 2\r\n\r\n"),
        (b"data: 1234567890\r\r", b"data: 2\r\r"),
        (b"id: 1\ndata: 12\ndata: 3456789\n\n", b"data: 2\n\n"),
        (b"\xef\xbb\xbfdata: 1234567890\n\n", b"data: 2\n\n"),
    ],
)
@given(sizes=st.lists(st.integers(1, 8), max_size=40))
def test_an_event_over_the_limit_in_parts(
    long_event: bytes, next_event: bytes, sizes: list[int]
) -> None:
    """Its bytes pass as they arrive, and the next event is read."""
    stream = b"data: 0\n\n" + long_event + next_event
    reader, events, start = EventReader(12, splits_long_events=True), list[Event](), 0
    for size in [*sizes, len(stream)]:
        events += reader.feed(stream[start : start + size])
        start += size

    assert stream == b"".join(event.mark + event.text for event in events) + reader.rest()
    assert [b"0", b"2"] == [event.data for event in events if event.data is not None]
    assert any(event.is_part for event in events)
    assert not reader.is_in_part


@pytest.mark.parametrize(
    ("stream", "data"),
    [(b"data: 1", b"1"), (b"data: 1\nid: 2\n", b"1"), (b": 1", None), (b"data: 1\n\n", None)],
)
def test_an_event_without_its_end(stream: bytes, data: bytes | None) -> None:
    """Lenient readers take it for an event at the end of the stream."""
    reader = EventReader(1000)
    events = [*reader.feed(stream), reader.finish()]
    last = events[-1]

    assert data == (None if last is None else last.data)
    assert stream == b"".join(event.text for event in events if event is not None)
