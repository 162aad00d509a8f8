"""Lines of a sender as messages, and the ids of lines that are too long."""

import json

import pytest
from sidecheck_server.proxy.stdio.line_messages import LineMessages, Unit, find_glued
from sidecheck_server.proxy.stdio.long_lines import LongMessage

_MESSAGE = {"jsonrpc": "2.0", "id": 1, "result": {"a": [1, -2.5e3, 'x{"', None, True], "b": {}}}
_LINE = json.dumps(_MESSAGE).encode() + b"\n"
_PRETTY = json.dumps(_MESSAGE, indent=2).encode() + b"\n"


def _lines_of(units: list[Unit]) -> list[tuple[int, bool]]:
    """Return the number of lines of each unit, and whether it is a message or a batch."""
    return [(unit.lines, unit.received.content is not None) for unit in units]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (_LINE, [(1, True)]),
        (_PRETTY, [(_PRETTY.count(b"\n"), True)]),
        (_PRETTY.replace(b"\n", b"\r\n"), [(_PRETTY.count(b"\n"), True)]),
        (b"[\n" + _LINE.rstrip() + b",\n{}\n]\n", [(4, True)]),
        (b"[db] connected\n" + _LINE, [(1, False), (1, True)]),
        (b"{\n  level: 1\n}\n" + _LINE, [(1, False), (1, False), (1, False), (1, True)]),
        (b'[\n{"a":\n' + _LINE, [(1, False), (1, False), (1, True)]),
        (b"[" * 100_000 + b"\n" + _LINE, [(1, False), (1, True)]),
        (b"[\n" * 1_000 + _LINE, [*[(1, False)] * 1_000, (1, True)]),
        (b'{"' + b'\\"' * 100_000 + b"}\n" + _LINE, [(1, False), (1, True)]),
        (_PRETTY[:-3], [(1, False)] * (_PRETTY.count(b"\n") - 1)),
        (b"\xef\xbb\xbf" + _LINE, [(1, True)]),
        (b"42\nnull\n[]\n", [(1, False)] * 3),
    ],
)
def test_units(text: bytes, expected: list[tuple[int, bool]]) -> None:
    """Lines belong together if they are one message; all bytes are kept, in order."""
    messages = LineMessages(1 << 20)
    units = [unit for line in text.splitlines(keepends=True) for unit in messages.add(line)]
    units += messages.flush()

    assert expected == _lines_of(units)
    assert text == b"".join(unit.text for unit in units)


def test_a_value_beyond_the_limit() -> None:
    """Its lines are not joined."""
    messages = LineMessages(50)
    units = [unit for line in _PRETTY.splitlines(keepends=True) for unit in messages.add(line)]

    assert {1} == {unit.lines for unit in [*units, *messages.flush()]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"Loading... " + _LINE.strip(), _LINE.strip()),
        (b"{} " + _LINE.strip(), _LINE.strip()),
        (_LINE.strip(), None),
        (_LINE.strip() * 2, None),
        (b"Loading... {}", None),
        (b'Loading... {"jsonrpc"', None),
    ],
)
def test_glued_messages(text: bytes, found: bytes | None) -> None:
    """Only a message at the end, after other text, is one."""
    received = find_glued(text)

    assert found == (received and received.text)


@pytest.mark.parametrize("size", [1, 3, 7, 1_000, 1 << 20])
@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"id": 5, "method": "m", "params": {"id": 7}}, (b"5", True, False)),
        (
            {"method": "m", "params": {"id": 7, "text": '\\"{'}, "id": "a-1"},
            (b'"a-1"', True, False),
        ),
        ({"id": 5, "result": {"text": "]}" * 2_000, "id": 7}}, (b"5", False, True)),
        ({"error": {"id": 7}, "id": -1}, (b"-1", False, True)),
        ({"method": "notifications/x", "params": [{"id": 7}]}, (None, True, False)),
        ({"text": '"id": 7,', "id": None}, (None, False, False)),
    ],
)
async def test_ids_of_long_messages(
    message: object, expected: tuple[bytes | None, bool, bool], size: int
) -> None:
    """They are found wherever they stand, however the message is divided."""
    text = json.dumps(message).encode()
    long = LongMessage()
    for start in range(0, len(text), size):
        await long.add(text[start : start + size])

    assert (*expected, len(text)) == (long.id_text, long.has_method, long.has_answer, long.size)
