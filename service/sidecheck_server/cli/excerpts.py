"""Excerpts: the source line of a finding, with its position marked."""

import json

from rich.cells import cell_len

from sidecheck_server.cli.findings import Finding
from sidecheck_server.cli.rows import Row

__all__ = ["excerpt_rows"]

_CUT = "..."
_TAB = "    "
_BYTES_OF_A_CHARACTER = 4
"""Maximum size of a character in UTF-8, in bytes (RFC 3629, section 3)."""


def excerpt_rows(finding: Finding, width: int, style: str) -> list[Row]:
    """Return rows of at most *width* cells that mark the position of *finding*.

    What cannot be printed is escaped, and a long line is cut around the place.
    """
    number = str(finding.place.line)
    gutter = len(number) + 4
    before, marked, after = _parts(finding, width)
    room = max(width - gutter, 20)
    # A place that begins far to the right keeps a third of the room before it.
    if len(before) and _cells(before) + _cells(marked) + _cells(after) > room:
        before = _last(before, max(room // 3, room - _cells(marked) - _cells(after)))
    rest = _first([*marked, *after], room - _cells(before))
    indent = " " * _cells(before)
    mark = "^" + "~" * (min(_cells(marked), _cells(rest)) - 1)
    edge = (" " * (len(number) + 2) + "| ", "cyan")
    return [
        Row((edge,), wraps=False),
        Row(
            ((f" {number} | ", "cyan"), ("".join([*before, *rest]), "")),
            wraps=False,
        ),
        Row((edge, (indent, ""), (mark, style)), wraps=False),
    ]


def _parts(finding: Finding, width: int) -> tuple[list[str], list[str], list[str]]:
    """Return the source line before, at and after the position of *finding*.

    Each is a list of characters as they are shown, and bounded by *width*.
    """
    text, place = finding.source.text, finding.place
    window = width * _BYTES_OF_A_CHARACTER
    begin = text.rfind(b"\n", max(place.start - window, 0), place.start) + 1
    begin = begin or max(place.start - window, 0)
    stop = text.find(b"\n", place.start, place.start + 2 * window)
    stop = stop if stop >= 0 else min(place.start + 2 * window, len(text))
    end = min(place.end, stop)
    if text[begin:stop].endswith(b"\r"):
        stop -= 1
        end = min(end, stop)
    return (
        _shown(text[begin : place.start]),
        _shown(text[place.start : end]),
        _shown(text[end:stop]),
    )


def _shown(part: bytes) -> list[str]:
    decoded = part.decode("utf-8", "surrogateescape")
    # Of a character that the window cuts in two, nothing is shown.
    return [_escaped(each) for each in decoded.strip("\ufeff")]


def _escaped(character: str) -> str:
    if character == "\t":
        return _TAB
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _cells(shown: list[str]) -> int:
    return sum(map(cell_len, shown))


def _first(shown: list[str], room: int) -> list[str]:
    """Return the first characters that fit in *room* cells, with an ellipsis if some do not."""
    if _cells(shown) <= room:
        return shown
    kept: list[str] = []
    left = room - len(_CUT)
    for each in shown:
        left -= cell_len(each)
        if left < 0:
            break
        kept.append(each)
    return [*kept, _CUT] if room >= len(_CUT) else []


def _last(shown: list[str], room: int) -> list[str]:
    return _first(shown[::-1], room)[::-1]
