"""Excerpts: the source line of a finding with its position marked."""

import json

from rich.cells import cell_len

from sidecheck_server.cli.findings import Finding
from sidecheck_server.cli.rows import Row

__all__ = ["excerpt_rows"]

_ELLIPSIS = "..."
_TAB = "    "
_MAX_CHARACTER_BYTES = 4
"""Maximum size of a character in UTF-8, in bytes (RFC 3629, section 3)."""


def excerpt_rows(finding: Finding, width: int, style: str) -> list[Row]:
    """Return rows of at most *width* cells that mark the position of *finding*.

    Unprintable characters are escaped, and a long line is cut around the position.
    """
    number = str(finding.place.line)
    gutter = len(number) + 4
    before, marked, after = _parts(finding, width)
    available = max(width - gutter, 20)
    # Before a position far to the right, a third of the width shows the text before it.
    if len(before) and _cells(before) + _cells(marked) + _cells(after) > available:
        before = _take_last(before, max(available // 3, available - _cells(marked) - _cells(after)))
    rest = _take_first([*marked, *after], available - _cells(before))
    indent = " " * _cells(before)
    mark = "^" + "~" * (min(_cells(marked), _cells(rest)) - 1)
    empty_gutter = (" " * (len(number) + 2) + "| ", "cyan")
    return [
        Row((empty_gutter,), wraps=False),
        Row(
            ((f" {number} | ", "cyan"), ("".join([*before, *rest]), "")),
            wraps=False,
        ),
        Row((empty_gutter, (indent, ""), (mark, style)), wraps=False),
    ]


def _parts(finding: Finding, width: int) -> tuple[list[str], list[str], list[str]]:
    """Return the source line before, at and after the position of *finding*.

    Each part is a list of escaped characters, whose length *width* bounds.
    """
    text, place = finding.source.text, finding.place
    window = width * _MAX_CHARACTER_BYTES
    line_start = text.rfind(b"\n", max(place.start - window, 0), place.start) + 1
    line_start = line_start or max(place.start - window, 0)
    line_end = text.find(b"\n", place.start, place.start + 2 * window)
    line_end = line_end if line_end >= 0 else min(place.start + 2 * window, len(text))
    end = min(place.end, line_end)
    if text[line_start:line_end].endswith(b"\r"):
        line_end -= 1
        end = min(end, line_end)
    return (
        _decode(text[line_start : place.start]),
        _decode(text[place.start : end]),
        _decode(text[end:line_end]),
    )


def _decode(part: bytes) -> list[str]:
    """Return the characters of *part*, escaped for display."""
    return [_escape(char) for char in part.decode("utf-8", "surrogateescape").strip("\ufeff")]


def _escape(character: str) -> str:
    if character == "\t":
        return _TAB
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _cells(characters: list[str]) -> int:
    return sum(map(cell_len, characters))


def _take_first(characters: list[str], width: int) -> list[str]:
    """Return what fits in *width* cells of the start, with an ellipsis for the rest."""
    if _cells(characters) <= width:
        return characters
    result: list[str] = []
    cells_left = width - len(_ELLIPSIS)
    for character in characters:
        cells_left -= cell_len(character)
        if cells_left < 0:
            break
        result.append(character)
    return [*result, _ELLIPSIS] if width >= len(_ELLIPSIS) else []


def _take_last(characters: list[str], width: int) -> list[str]:
    return _take_first(characters[::-1], width)[::-1]
