"""Cursor over the source of a pattern, and the errors of patterns.

All messages are our own text. Messages of libraries are never passed on, and quoted
parts of the pattern are cut and printable, so messages can be logged and sent.
"""

import re
from enum import StrEnum

__all__ = ["Cursor", "PatternError", "PatternFault", "quote"]

QUOTED_AT_MOST = 40


class PatternFault(StrEnum):
    """Kinds of faults for which a pattern is rejected."""

    #: Not a pattern of ECMA-262 with the `u` flag (section 22.2.1), leniency included.
    SYNTAX = "syntax"
    #: A pattern of ECMA-262 with look-around or a back-reference, which linear-time
    #: matching cannot run.
    NOT_LINEAR = "not_linear"
    #: A pattern that exceeds a bound, which the error names.
    TOO_LARGE = "too_large"


class PatternError(ValueError):
    """A pattern cannot be compiled; `fault`, `message` and `offset` say why and where.

    The offset counts characters from the start of the pattern. `bound` and `limit` are the
    name and the value of the bound that a pattern exceeds which is too large.
    """

    def __init__(
        self, fault: PatternFault, message: str, offset: int, bound: str = "", limit: int = 0
    ) -> None:
        # All of them go to `args`, so that the error can be unpickled.
        super().__init__(fault, message, offset, bound, limit)
        self.fault = fault
        self.message = message
        self.offset = offset
        self.bound = bound
        self.limit = limit

    def __str__(self) -> str:
        return self.message

    @classmethod
    def at(cls, offset: int, fault: PatternFault, wrong: str, remedy: str) -> "PatternError":
        """Return the error at *offset*, with the fault and the remedy in its message."""
        return cls(fault, f"at offset {offset}: {wrong}; {remedy}", offset)

    @classmethod
    def over_bound(
        cls, offset: int, bound: str, limit: int, wrong: str, remedy: str
    ) -> "PatternError":
        """Return the error at *offset* of what exceeds the *limit* named *bound*."""
        message = f"at offset {offset}: {wrong}, more than the limit of {limit:,} ({bound})"
        return cls(PatternFault.TOO_LARGE, f"{message}; {remedy}", offset, bound, limit)


def quote(text: str) -> str:
    """Return *text* in backquotes, cut to 40 characters, the unprintable ones as U+XXXX."""
    cut = text if len(text) <= QUOTED_AT_MOST else text[:QUOTED_AT_MOST] + "…"
    return "`" + "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in cut) + "`"


class Cursor:
    """A pattern and the offset up to which it has been read.

    A valid pattern of ECMA-262 may be rejected here. Such an error is deferred, since a
    syntax error further on takes precedence. `deferred` is the error with the least
    offset.
    """

    __slots__ = ("deferred", "offset", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.offset = 0
        self.deferred: PatternError | None = None

    def peek(self) -> str:
        """Return the next character, or the empty string at the end."""
        return self.source[self.offset : self.offset + 1]

    def take(self) -> str:
        """Consume and return the next character, or the empty string at the end."""
        character = self.peek()
        self.offset += len(character)
        return character

    def accept(self, literal: str) -> bool:
        """Consume *literal* if it comes next; return whether it does."""
        if not self.source.startswith(literal, self.offset):
            return False
        self.offset += len(literal)
        return True

    def match(self, lexeme: re.Pattern[str]) -> re.Match[str] | None:
        """Consume *lexeme* if it comes next; return the match."""
        match = lexeme.match(self.source, self.offset)
        if match:
            self.offset = match.end()
        return match

    def defer(self, error: PatternError) -> None:
        """Defer *error* to the end of the pattern, unless an earlier one is deferred."""
        if self.deferred is None or error.offset < self.deferred.offset:
            self.deferred = error
