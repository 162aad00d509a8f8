"""Builder of hostile texts from short descriptions, so that a case of a megabyte is one line.

A description is one of these:

- a string: itself, in UTF-8;
- an array: its texts, joined;
- ``{"json": value}``: the value as JSON text;
- ``{"repeat": text, "times": n, "between": text, "as": name}``: the text *n* times, separated
  by ``between`` (empty by default). ``<i>`` in the text is the index of the repetition, from
  0, and ``<i+7>``, ``<i*7>`` and ``<i%7>`` are arithmetic on it. *name* is ``i`` by default;
  nested repetitions need different names;
- ``{"nest": [open, inner, close], "times": n}``: *open* n times, *inner*, *close* n times;
- ``{"hex": digits}``: bytes, which need not be UTF-8;
- ``{"field": number, "of": text}``: the text as a length-delimited field of protobuf
  (https://protobuf.dev/programming-guides/encoding/).

``<http>`` and ``<file>`` stand for the URLs of the baits.
"""

import json
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["build"]

_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "*": operator.mul,
    "%": operator.mod,
}


def build(text: Any, baits: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes that *text* describes, with the URLs of *baits* by their names.

    Raises:
        ValueError: *text* is not one of the forms.
    """
    built = _build(text)
    for name, url in (baits or {}).items():
        built = built.replace(f"<{name}>".encode(), url.encode())
    return built


def _build(text: Any) -> bytes:
    match text:
        case str():
            return text.encode()
        case list():
            return b"".join(map(_build, text))
        case {"json": value, **rest} if not rest:
            return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
        case {"repeat": part, "times": int(times), **rest} if rest.keys() <= {"between", "as"}:
            turns = _turns(_build(part), times, str(rest.get("as", "i")))
            return _build(rest.get("between", "")).join(turns)
        case {"nest": [before, inner, after], "times": int(times), **rest} if not rest:
            return _build(before) * times + _build(inner) + _build(after) * times
        case {"hex": str(digits), **rest} if not rest:
            return bytes.fromhex(digits)
        case {"field": int(number), "of": inner, **rest} if not rest:
            value = _build(inner)
            return _varint(number << 3 | 2) + _varint(len(value)) + value
        case _:
            raise ValueError(f"no text is written as {str(text)[:80]}")


def _turns(part: bytes, times: int, name: str) -> list[bytes]:
    """Return *part* for each repetition, with its index in place of *name*."""
    pieces = re.split(rb"<%b(?:([+*%%])([0-9]+))?>" % re.escape(name.encode()), part)
    if len(pieces) == 1:
        return pieces * times
    counts = [
        (_ARITHMETIC[sign.decode()], int(number)) if sign else (operator.add, 0)
        for sign, number in zip(pieces[1::3], pieces[2::3], strict=True)
    ]
    form = b"%d".join(piece.replace(b"%", b"%%") for piece in pieces[::3])
    return [form % tuple(count(turn, number) for count, number in counts) for turn in range(times)]


def _varint(number: int) -> bytes:
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])
