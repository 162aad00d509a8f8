"""Diagnostics of a source text: codes, the error with a code, and a collection."""

import ast
from dataclasses import dataclass, field
from enum import StrEnum

from sidecheck_server.core.infer.types import Diagnostic, SourceRange
from sidecheck_server.core.types import Severity

__all__ = ["DiagnosticCode", "Diagnostics", "SourceError"]

# Messages quote names of the source, which may be as long as the source.
_MAX_MESSAGE_CHARACTERS = 500
_MAX_DIAGNOSTICS = 1000
# Each use of a class reports its faults again; a diagnostic is compared with this many others.
_DEDUPLICATION_WINDOW = 8


class DiagnosticCode(StrEnum):
    """Stable code of a diagnostic."""

    SYNTAX_ERROR = "SYNTAX_ERROR"
    """The source is not Python, or not UTF-8."""
    TOO_DEEP = "TOO_DEEP"
    """Nesting exceeds a bound."""
    TOO_LARGE = "TOO_LARGE"
    """A number or size exceeds a bound."""
    UNKNOWN_FUNCTION = "UNKNOWN_FUNCTION"
    """A requested function is not in the source."""
    DUPLICATE_TOOL = "DUPLICATE_TOOL"
    """Two tools have the same name."""
    UNRESOLVED_NAME = "UNRESOLVED_NAME"
    """The source does not determine what a name refers to."""
    UNSUPPORTED_TYPE = "UNSUPPORTED_TYPE"
    """A type has no JSON Schema, or none that inference knows."""
    UNSUPPORTED_SYNTAX = "UNSUPPORTED_SYNTAX"
    """An expression is neither the literal nor the type that its position requires."""
    VARIADIC_PARAMETER = "VARIADIC_PARAMETER"
    """``*args``: tool arguments are passed by name."""
    POSITIONAL_ONLY = "POSITIONAL_ONLY"
    """A parameter before ``/``: tool arguments are passed by name."""
    MISSING_ANNOTATION = "MISSING_ANNOTATION"
    """A parameter without a type admits any value."""
    DEFAULT_NOT_JSON = "DEFAULT_NOT_JSON"
    """A default cannot be expressed in the schema and is omitted."""
    UNREAD_DOCSTRING = "UNREAD_DOCSTRING"
    """A section of parameters in a docstring describes what is none; it stays in the text."""
    IMPLICIT_OPTIONAL = "IMPLICIT_OPTIONAL"
    """The default is None and the type does not admit it."""


class SourceError(Exception):
    """The source cannot be read at *node*; None stands for the whole source."""

    def __init__(self, code: DiagnosticCode, message: str, node: ast.AST | None) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.node = node


@dataclass(slots=True)
class Diagnostics:
    """Collection of the diagnostics of one source, whose *lines* are UTF-8 bytes."""

    lines: list[bytes]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    #: The function and the parameter being read.
    function: str = ""
    parameter: str = ""
    #: Number of errors, including errors beyond the maximum of diagnostics.
    error_count: int = 0

    def add(self, error: SourceError, severity: Severity = Severity.ERROR) -> None:
        """Add the diagnostic of *error*."""
        self.add_at(self._range_of(error.node), error.code, error.message, severity)

    def warn(self, code: DiagnosticCode, message: str, node: ast.AST | None) -> None:
        """Add a warning at *node*."""
        self.add_at(self._range_of(node), code, message, Severity.WARNING)

    def add_at(
        self, location: SourceRange, code: DiagnosticCode, message: str, severity: Severity
    ) -> None:
        """Add a diagnostic at *location*, unless one of the last diagnostics equals it."""
        self.error_count += severity is Severity.ERROR
        if len(self.diagnostics) > _MAX_DIAGNOSTICS:
            return
        if len(self.diagnostics) == _MAX_DIAGNOSTICS:
            code, severity = DiagnosticCode.TOO_LARGE, Severity.ERROR
            location = SourceRange()
            message = f"more than {_MAX_DIAGNOSTICS:,} diagnostics; the others are not listed"
        elif len(message) > _MAX_MESSAGE_CHARACTERS:
            message = f"{message[:_MAX_MESSAGE_CHARACTERS]}..."
        diagnostic = Diagnostic(
            code.value, severity, message, location, self.function, self.parameter
        )
        if diagnostic not in self.diagnostics[-_DEDUPLICATION_WINDOW:]:
            self.diagnostics.append(diagnostic)

    def sort_by_location(self) -> tuple[Diagnostic, ...]:
        """Return all diagnostics, ordered by line and column."""
        return tuple(
            sorted(
                self.diagnostics,
                key=lambda diagnostic: (diagnostic.location.line, diagnostic.location.column),
            )
        )

    def _range_of(self, node: ast.AST | None) -> SourceRange:
        line = getattr(node, "lineno", None)
        if line is None:
            return SourceRange()
        end_line = getattr(node, "end_lineno", None) or line
        start = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None) or start
        return SourceRange(line, self._column(line, start), end_line, self._column(end_line, end))

    def _column(self, line: int, offset: int) -> int:
        """Return the column, in characters from 1, of the byte *offset* of a line."""
        if line > len(self.lines):
            return offset + 1
        return len(self.lines[line - 1][:offset].decode("utf-8", "replace")) + 1
