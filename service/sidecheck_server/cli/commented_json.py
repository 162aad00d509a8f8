"""JSON with comments and trailing commas, as VS Code reads it, and edits of its text."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sidecheck_server.cli.findings import Span, find_spans
from sidecheck_server.core.types import as_pointer

__all__ = ["CommentedJson", "Edit", "apply_edits"]

_STRING = rb'"(?:[^"\\]|\\.)*+"'
_COMMENT = re.compile(_STRING + rb"|//[^\n]*+|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(_STRING + rb"|,(?=\s*+[\]}])", re.DOTALL)
_NOT_A_LINE_END = re.compile(rb"[^\r\n]")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Edit:
    """Replacement of the bytes from *start* to *end* of a text."""

    start: int
    end: int
    text: bytes


def apply_edits(text: bytes, edits: Iterable[Edit]) -> bytes:
    """Return *text* with *edits*, which do not overlap."""
    parts, position = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [text[position : edit.start], edit.text]
        position = edit.end
    return b"".join([*parts, text[position:]])


class CommentedJson:
    """Text of JSON with comments, its value, and the spans of its parts."""

    def __init__(self, text: bytes) -> None:
        """Read *text*.

        Raises:
            ValueError: it is not such JSON; the message names the place.
        """
        self.text = text
        # Comments become blanks, so that offsets in the plain text are those in the text.
        plain = _TRAILING_COMMA.sub(_blank_unless_string, _COMMENT.sub(_blank_unless_string, text))
        if plain.startswith(_BYTE_ORDER_MARK):
            plain = b"   " + plain[len(_BYTE_ORDER_MARK) :]
        self._plain = plain
        try:
            self.value: Any = json.loads(plain.decode())
        except UnicodeDecodeError as error:
            raise ValueError(f"it is not UTF-8 at byte {error.start}") from None
        except json.JSONDecodeError as error:
            raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
        except RecursionError:
            raise ValueError("it nests too deeply") from None

    def span(self, *path: str | int) -> Span:
        """Return the span of the value at *path*, which exists."""
        pointer = as_pointer(path)
        return find_spans(self._plain, [pointer])[pointer]

    def raw(self, *path: str | int) -> bytes:
        """Return the text of the value at *path*, with its comments."""
        span = self.span(*path)
        return self.text[span.start : span.end]

    def space_before(self, offset: int) -> bytes:
        """Return the white space before *offset*."""
        before = self.text[:offset]
        return before[len(before.rstrip(b" \t\r\n")) :]

    def remove_property(self, *path: str | int) -> Edit:
        """Return the edit that removes the property at *path*, with its comma."""
        span = self.span(*path)
        before = self._plain[: span.key_start].rstrip()
        if before.endswith(b","):
            return Edit(len(before) - 1, span.end, b"")
        after = self._plain[span.end :]
        comma = len(after) - len(after.lstrip())
        end = span.end + comma + 1 if after[comma : comma + 1] == b"," else span.end
        return Edit(span.key_start, end, b"")


def _blank_unless_string(match: re.Match[bytes]) -> bytes:
    return match[0] if match[0].startswith(b'"') else _NOT_A_LINE_END.sub(b" ", match[0])
