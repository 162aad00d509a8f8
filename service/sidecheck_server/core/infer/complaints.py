"""Complaints: what is wrong at a place of the source text, and the list of all that was."""

import ast
from dataclasses import dataclass, field
from enum import StrEnum

from sidecheck_server.core.infer.words import Diagnostic, Place
from sidecheck_server.core.types import Severity

__all__ = ["Code", "Complaint", "Complaints"]

# Names out of the text are in messages, and may be as long as the text.
_LONGEST = 500
_MOST = 1000


class Code(StrEnum):
    """What a diagnostic is about."""

    SYNTAX_ERROR = "SYNTAX_ERROR"
    """The text is not Python, or not UTF-8."""
    TOO_DEEP = "TOO_DEEP"
    """Something is nested beyond a bound."""
    TOO_LARGE = "TOO_LARGE"
    """There is more of something than a bound admits."""
    UNKNOWN_FUNCTION = "UNKNOWN_FUNCTION"
    """A function that was asked for is not in the text."""
    DUPLICATE_TOOL = "DUPLICATE_TOOL"
    """Two tools have one name."""
    UNRESOLVED_NAME = "UNRESOLVED_NAME"
    """The text alone does not tell what a name means."""
    UNSUPPORTED_TYPE = "UNSUPPORTED_TYPE"
    """A type has no schema, or none that is known here."""
    UNSUPPORTED_SYNTAX = "UNSUPPORTED_SYNTAX"
    """An expression stands where only a literal, or a type, can be read."""
    VARIADIC_PARAMETER = "VARIADIC_PARAMETER"
    """``*args``: arguments are by name."""
    POSITIONAL_ONLY = "POSITIONAL_ONLY"
    """A parameter before ``/``: arguments are by name."""
    MISSING_ANNOTATION = "MISSING_ANNOTATION"
    """A parameter has no type, and admits anything."""
    DEFAULT_NOT_JSON = "DEFAULT_NOT_JSON"
    """A default cannot be told as JSON, and is left out."""
    IMPLICIT_OPTIONAL = "IMPLICIT_OPTIONAL"
    """The default is None, which the type does not admit."""


class Complaint(Exception):
    """Something at *node* of the text cannot be read; without a node, it is the whole text."""

    def __init__(self, code: Code, message: str, node: ast.AST | None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.node = node


@dataclass(slots=True)
class Complaints:
    """All that was found in one text, *lines* of which are bytes in UTF-8."""

    lines: list[bytes]
    found: list[Diagnostic] = field(default_factory=list)
    #: The function and the parameter that are being read.
    function: str = ""
    parameter: str = ""
    #: How many errors there were, listed or not.
    errors: int = 0

    def add(self, complaint: Complaint, severity: Severity = Severity.ERROR) -> None:
        """List *complaint*."""
        self.place(complaint.code, complaint.message, self._place(complaint.node), severity)

    def place(self, code: Code, message: str, at: Place, severity: Severity) -> None:
        """List what is wrong *at* a place."""
        self.errors += severity is Severity.ERROR
        if len(self.found) > _MOST:
            return
        if len(self.found) == _MOST:
            code, severity, at = Code.TOO_LARGE, Severity.ERROR, Place()
            message = f"more than {_MOST:,} diagnostics; the others are not listed"
        elif len(message) > _LONGEST:
            message = f"{message[:_LONGEST]}..."
        told = Diagnostic(code.value, severity, message, at, self.function, self.parameter)
        if told not in self.found[-8:]:  # one fault of a class may be met for each use of it
            self.found.append(told)

    def ordered(self) -> tuple[Diagnostic, ...]:
        """Return all by line and column."""
        return tuple(sorted(self.found, key=lambda one: (one.place.line, one.place.column)))

    def _place(self, node: ast.AST | None) -> Place:
        line = getattr(node, "lineno", None)
        if line is None:
            return Place()
        end_line = getattr(node, "end_lineno", None) or line
        start = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None) or start
        return Place(line, self._column(line, start), end_line, self._column(end_line, end))

    def _column(self, line: int, offset: int) -> int:
        """Return the column, in characters from 1, of the byte *offset* of a line."""
        if line > len(self.lines):
            return offset + 1
        return len(self.lines[line - 1][:offset].decode("utf-8", "replace")) + 1
