"""Findings: violations with the place in a file that they are about."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sidecheck_server.cli.source_map import Span, locate, positions
from sidecheck_server.core.types import Severity, Violation

__all__ = ["Finding", "Place", "Source", "Spot", "count", "find", "find_violations"]


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read, or standard input."""

    #: As it was named on the command line.
    name: str
    text: bytes


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a source: offsets in bytes; lines and columns from 1, in characters."""

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Spot:
    """A violation and the JSON Pointer, into the source, of what is to be shown."""

    violation: Violation
    pointer: str
    #: The tool that it is a violation of, or "".
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A violation with its place."""

    source: Source
    tool: str
    pointer: str
    violation: Violation
    place: Place


def find(source: Source, spots: Sequence[Spot]) -> list[Finding]:
    """Return a finding for each of *spots*, in their order."""
    if not spots:
        return []
    told = [_told_range(source.text, spot.violation) for spot in spots]
    asked = [spot.pointer for spot, known in zip(spots, told, strict=True) if known is None]
    # A text with a fault that its message places may not be JSON.
    spans = locate(source.text, asked) if asked else {}
    ranges = [
        known if known is not None else _range(spot, spans[spot.pointer])
        for spot, known in zip(spots, told, strict=True)
    ]
    at = positions(source.text, (offset for pair in ranges for offset in pair))
    return [
        Finding(
            source,
            spot.tool,
            spot.pointer,
            spot.violation,
            Place(start, end, *at[start], *at[end]),
        )
        for spot, (start, end) in zip(spots, ranges, strict=True)
    ]


def find_violations(source: Source, violations: Sequence[Violation]) -> list[Finding]:
    """Return a finding for each of *violations* of the whole *source*."""
    return find(source, [Spot(found, found.instance_location) for found in violations])


def count(findings: Sequence[Finding], severity: Severity) -> int:
    """Return how many of *findings* are of that severity."""
    return sum(one.violation.severity is severity for one in findings)


# Violations of a key, where others are of the value under it.
_OF_KEYS = frozenset(
    {"ADDITIONAL_PROPERTIES", "UNEVALUATED_PROPERTIES", "PROPERTY_NAMES", "DUPLICATE_KEY"}
)


def _range(spot: Spot, span: Span) -> tuple[int, int]:
    above = spot.pointer.rpartition("/")[0]
    pattern = spot.violation.code.endswith("_PATTERN") and above.endswith("/patternProperties")
    if spot.violation.code in _OF_KEYS or pattern:
        return span.key_start, span.key_end
    return span.start, span.end


# Of a text without a value to point at, the core's message names the place.
_TOLD = re.compile(r" at line (\d+), column (\d+)")
_PLACED_BY_MESSAGE = frozenset({"PAYLOAD_NOT_JSON", "NUMBER_OUT_OF_RANGE"})


def _told_range(text: bytes, violation: Violation) -> tuple[int, int] | None:
    if violation.code == "LIMIT_EXCEEDED" and not violation.instance_location:
        return 0, 0  # It may be too deep to be read at all.
    if violation.code not in _PLACED_BY_MESSAGE or violation.instance_location:
        return None  # Of a text inside of the source, the message names a place in that.
    told = _TOLD.search(violation.message)
    place = (int(told[1]), int(told[2])) if told else None
    start = _offset(text, *place) if place else _first_undecodable(text)
    return start, min(start + 1, len(text))


def _first_undecodable(text: bytes) -> int:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _offset(text: bytes, line: int, column: int) -> int:
    start = 0
    for _ in range(line - 1):
        start = text.find(b"\n", start) + 1
    end = text.find(b"\n", start)
    before = text[start : end if end >= 0 else len(text)].decode("utf-8", "surrogateescape")
    return start + len(before[: column - 1].encode("utf-8", "surrogateescape"))
