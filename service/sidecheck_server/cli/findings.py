"""Findings: violations with their positions in a source file."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sidecheck_server.core.types import Severity, Violation

__all__ = [
    "Finding",
    "Place",
    "Source",
    "Span",
    "Spot",
    "count",
    "create_findings",
    "find_positions",
    "find_spans",
    "find_violations",
]

_SPACE = re.compile(rb"[ \t\r\n]*+")
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_KEY = re.compile(_STRING, re.DOTALL)
_SCALAR = re.compile(rb'[^][{}",: \t\r\n]++|' + _STRING, re.DOTALL)
_BRACKET = re.compile(rb'(?:[^][{}"]++|' + _STRING + rb")*+[][{}]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Span:
    """Byte offsets of a value and its key; those of the value if it has no key."""

    start: int
    end: int
    key_start: int
    key_end: int


def find_spans(text: bytes, pointers: Iterable[str]) -> dict[str, Span]:
    """Return the span of the value at each of *pointers* in the JSON *text*.

    If there is no value at a pointer, its nearest ancestor counts. Of members with the same
    key, the last counts. Time is linear in the length of *text*.
    """
    distinct = set(pointers)
    reader = _Reader(text, {prefix for pointer in distinct for prefix in _prefixes(pointer)})
    reader.read("", 0, None)
    return {
        pointer: next(
            reader.spans[prefix] for prefix in _prefixes(pointer) if prefix in reader.spans
        )
        for pointer in distinct
    }


def find_positions(text: bytes, offsets: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return line and column of each of *offsets*, from 1, in characters.

    Lines end with a line feed. Time is linear in the length of *text*.
    """
    result = {}
    previous, line, column = 0, 1, 1
    for offset in sorted(set(offsets)):
        part = text[previous:offset]
        if lines := part.count(b"\n"):
            line, column = line + lines, 1
            part = part[part.rfind(b"\n") + 1 :]
        column += len(part.decode("utf-8", "replace"))
        result[offset] = (line, column)
        previous = offset
    return result


def _prefixes(pointer: str) -> Iterable[str]:
    """Yield *pointer* and its ancestors, the longest first."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield ""


class _Reader:
    """Finds the spans of the values at *pointers*, which include all their prefixes."""

    def __init__(self, text: bytes, pointers: set[str]) -> None:
        self.spans: dict[str, Span] = {}
        self._text = text
        self._pointers = pointers

    def read(self, pointer: str, offset: int, key: tuple[int, int] | None) -> int:
        """Read the value at *offset*, after white space; return the offset of its end."""
        start = self._skip_space(offset)
        if pointer not in self._pointers:
            return self._skip(start)
        opening = self._text[start : start + 1]
        if opening == b"{":
            end = self._read_members(pointer, start + 1)
        elif opening == b"[":
            end = self._read_items(pointer, start + 1)
        else:
            end = self._skip(start)
        # The length of the longest requested pointer bounds the recursion.
        self.spans[pointer] = Span(start, end, *(key or (start, end)))
        return end

    def _read_members(self, pointer: str, offset: int) -> int:
        while key := _KEY.match(self._text, self._skip_space(offset)):
            step = json.loads(key[0]).replace("~", "~0").replace("/", "~1")
            colon = self._skip_space(key.end())
            offset = self._skip_space(self.read(f"{pointer}/{step}", colon + 1, key.span()))
            if self._text[offset : offset + 1] == b",":
                offset += 1
        return self._skip_space(offset) + 1

    def _read_items(self, pointer: str, offset: int) -> int:
        index = 0
        while self._text[(offset := self._skip_space(offset)) : offset + 1] not in (b"]", b""):
            offset = self._skip_space(self.read(f"{pointer}/{index}", offset, None))
            if self._text[offset : offset + 1] == b",":
                offset += 1
            index += 1
        return offset + 1

    def _skip(self, start: int) -> int:
        if self._text[start : start + 1] not in (b"[", b"{"):
            scalar = _SCALAR.match(self._text, start)
            return scalar.end() if scalar else len(self._text)
        depth, offset = 1, start + 1
        while depth and (bracket := _BRACKET.match(self._text, offset)):
            offset = bracket.end()
            depth += 1 if self._text[offset - 1] in b"[{" else -1
        return offset

    def _skip_space(self, offset: int) -> int:
        space = _SPACE.match(self._text, offset)
        return space.end() if space else offset


@dataclass(frozen=True, slots=True)
class Source:
    """Name and content of an input file."""

    #: Name on the command line.
    name: str
    text: bytes


@dataclass(frozen=True, slots=True)
class Place:
    """Range of a source: offsets in bytes; lines and columns from 1, in characters."""

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Spot:
    """Violation and the JSON Pointer of its value in the source."""

    violation: Violation
    pointer: str
    #: Name of the invalid tool, or "".
    tool: str = ""
    #: Whether to mark the key of the value, or its first byte if it has no key, rather than all
    #: of it.
    at_key: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """Violation with its position in a source."""

    source: Source
    tool: str
    pointer: str
    violation: Violation
    place: Place


def create_findings(source: Source, spots: Sequence[Spot]) -> list[Finding]:
    """Return a finding for each of *spots*, in order."""
    if not spots:
        return []
    text_ranges = [_range_in_text(source.text, spot.violation) for spot in spots]
    pointers = [
        spot.pointer
        for spot, text_range in zip(spots, text_ranges, strict=True)
        if text_range is None
    ]
    # Text that is not JSON has text ranges only, and no values to locate.
    spans = find_spans(source.text, pointers) if pointers else {}
    ranges = [
        text_range if text_range is not None else _range(spot, spans[spot.pointer])
        for spot, text_range in zip(spots, text_ranges, strict=True)
    ]
    line_columns = find_positions(source.text, (offset for bounds in ranges for offset in bounds))
    return [
        Finding(
            source,
            spot.tool,
            spot.pointer,
            spot.violation,
            Place(start, end, *line_columns[start], *line_columns[end]),
        )
        for spot, (start, end) in zip(spots, ranges, strict=True)
    ]


def find_violations(source: Source, violations: Sequence[Violation]) -> list[Finding]:
    """Return a finding for each of *violations* of the whole *source*."""
    return create_findings(
        source, [Spot(violation, violation.instance_location) for violation in violations]
    )


def count(findings: Sequence[Finding], severity: Severity) -> int:
    """Return the number of *findings* with *severity*."""
    return sum(finding.violation.severity is severity for finding in findings)


# Codes of violations that concern the key of a member rather than its value.
_KEY_CODES = frozenset(
    {"ADDITIONAL_PROPERTIES", "UNEVALUATED_PROPERTIES", "PROPERTY_NAMES", "DUPLICATE_KEY"}
)


def _range(spot: Spot, span: Span) -> tuple[int, int]:
    parent = spot.pointer.rpartition("/")[0]
    is_pattern = spot.violation.code.endswith("_PATTERN") and parent.endswith("/patternProperties")
    if spot.violation.code in _KEY_CODES or is_pattern:
        return span.key_start, span.key_end
    if spot.at_key:
        has_key = span.key_start != span.start
        return span.key_start, span.key_end if has_key else min(span.start + 1, span.end)
    return span.start, span.end


def _range_in_text(text: bytes, violation: Violation) -> tuple[int, int] | None:
    """Return the range of *violation* if it has no value in *text*, else None."""
    if violation.code == "LIMIT_EXCEEDED" and not violation.instance_location:
        return 0, 0  # The text may nest too deeply to be parsed.
    if violation.code != "PAYLOAD_NOT_JSON" or violation.instance_location:
        return None  # The offset in an embedded text is not an offset in the source.
    start = _first_undecodable(text) if violation.offset is None else violation.offset
    return start, min(start + 1, len(text))


def _first_undecodable(text: bytes) -> int:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0
