"""Where the values of a JSON text stand in it (RFC 6901 pointers to offsets).

A text is read once, however many places are asked for, and only what leads to one of
them is taken apart; a regular expression runs over the rest.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Span", "locate", "positions"]

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_KEY = re.compile(_STRING, re.DOTALL)
_SCALAR = re.compile(rb'[^][{}",: \t\r\n]++|' + _STRING, re.DOTALL)
_BRACKET = re.compile(rb'(?:[^][{}"]++|' + _STRING + rb")*+[][{}]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value stands, in bytes, and where its key does if it has one."""

    start: int
    end: int
    key_start: int
    key_end: int


def locate(text: bytes, pointers: Iterable[str]) -> dict[str, Span]:
    """Return where each of *pointers* leads in *text*, which must be JSON.

    For one that leads nowhere, it is where the nearest value on the way stands. Of
    members with one key, the last counts. Time is linear in the length of *text*.
    """
    asked = set(pointers)
    reader = _Reader(text, {way for pointer in asked for way in _ways(pointer)})
    reader.read("", 0, None)
    return {
        pointer: next(reader.spans[way] for way in _ways(pointer) if way in reader.spans)
        for pointer in asked
    }


def positions(text: bytes, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return the line and the column of each of *offsets*, from 1 and in characters.

    Lines end with a line feed. Time is linear in the length of *text*.
    """
    found = {}
    at, line, column = 0, 1, 1
    for offset in sorted(set(offsets)):
        passed = text[at:offset]
        if lines := passed.count(b"\n"):
            line, column = line + lines, 1
            passed = passed[passed.rfind(b"\n") + 1 :]
        column += len(passed.decode("utf-8", "replace"))
        found[offset] = (line, column)
        at = offset
    return found


def _ways(pointer: str) -> Iterable[str]:
    """Yield *pointer* and all that stand on the way to it, the longest first."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield ""


class _Reader:
    def __init__(self, text: bytes, wanted: set[str]) -> None:
        self.spans: dict[str, Span] = {}
        self._text = text
        self._wanted = wanted

    def read(self, pointer: str, at: int, key: tuple[int, int] | None) -> int:
        """Read the value that begins at *at* or after white space; return where it ends."""
        start = self._skip_space(at)
        if pointer not in self._wanted:
            return self._skip(start)
        opening = self._text[start : start + 1]
        if opening == b"{":
            end = self._read_members(pointer, start + 1)
        elif opening == b"[":
            end = self._read_items(pointer, start + 1)
        else:
            end = self._skip(start)
        # Recursion is bounded: it goes no deeper than a pointer that was asked for.
        self.spans[pointer] = Span(start, end, *(key or (start, end)))
        return end

    def _read_members(self, pointer: str, at: int) -> int:
        while key := _KEY.match(self._text, self._skip_space(at)):
            step = json.loads(key[0]).replace("~", "~0").replace("/", "~1")
            colon = self._skip_space(key.end())
            at = self._skip_space(self.read(f"{pointer}/{step}", colon + 1, key.span()))
            if self._text[at : at + 1] == b",":
                at += 1
        return self._skip_space(at) + 1

    def _read_items(self, pointer: str, at: int) -> int:
        index = 0
        while self._text[(at := self._skip_space(at)) : at + 1] not in (b"]", b""):
            at = self._skip_space(self.read(f"{pointer}/{index}", at, None))
            if self._text[at : at + 1] == b",":
                at += 1
            index += 1
        return at + 1

    def _skip(self, start: int) -> int:
        if self._text[start : start + 1] not in (b"[", b"{"):
            scalar = _SCALAR.match(self._text, start)
            return scalar.end() if scalar else len(self._text)
        depth, at = 1, start + 1
        while depth and (bracket := _BRACKET.match(self._text, at)):
            at = bracket.end()
            depth += 1 if self._text[at - 1] in b"[{" else -1
        return at

    def _skip_space(self, at: int) -> int:
        found = _SPACE.match(self._text, at)
        return found.end() if found else at
