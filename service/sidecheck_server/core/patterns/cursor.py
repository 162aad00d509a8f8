"""Cursor over the source of a pattern, and the errors of patterns.

Messages never contain texts of libraries. Quoted parts of a pattern are shortened and
printable, so that messages can be shown in any terminal.
"""

import re
from enum import StrEnum

__all__ = ["Cursor", "PatternError", "PatternFault", "quote"]

QUOTED_AT_MOST = 40


class PatternFault(StrEnum):
    """Kinds of faults for which a pattern is rejected."""

    #: Not a pattern of ECMA-262 with the `u` flag (section 22.2.1), leniency included.
    SYNTAX = "syntax"
    #: A pattern of ECMA-262 with look-around or a back-reference, which cannot be matched in
    #: linear time.
    NOT_LINEAR = "not_linear"
    #: A pattern that exceeds a bound, named by the error.
    TOO_LARGE = "too_large"


class PatternError(ValueError):
    """A pattern cannot be compiled; `fault`, `message` and `offset` say why and where.

    The offset counts characters from the start of the pattern. For `TOO_LARGE`, `bound` and
    `limit` are the name and the value of the exceeded bound.
    """

    def __init__(
        self, fault: PatternFault, message: str, offset: int, bound: str = "", limit: int = 0
    ) -> None:
        # `args` must have all parameters, so that the error can be unpickled.
        super().__init__(fault, message, offset, bound, limit)
        self.fault = fault
        self.message = message
        self.offset = offset
        self.bound = bound
        self.limit = limit

    def __str__(self) -> str:
        return self.message

    @classmethod
    def at(cls, offset: int, fault: PatternFault, problem: str, remedy: str) -> "PatternError":
        """Return the error at *offset*, with a message about the fault and the remedy."""
        return cls(fault, f"at offset {offset}: {problem}; {remedy}", offset)

    @classmethod
    def over_bound(
        cls, offset: int, bound: str, limit: int, problem: str, remedy: str
    ) -> "PatternError":
        """Return the error at *offset* for a part that exceeds the *limit* named *bound*."""
        message = f"at offset {offset}: {problem}, more than the limit of {limit:,} ({bound})"
        return cls(PatternFault.TOO_LARGE, f"{message}; {remedy}", offset, bound, limit)


def quote(text: str) -> str:
    """Return *text* in backquotes, printable and cut to 40 characters."""
    shown = text if len(text) <= QUOTED_AT_MOST else text[:QUOTED_AT_MOST] + "…"
    return "`" + "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in shown) + "`"


class Cursor:
    """A pattern and the offset of the next unread character.

    Parts that are valid in ECMA-262 but unsupported cause deferred errors, because a later
    syntax error takes precedence. `deferred` is the one with the least offset.
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
        """Defer *error* to the end, unless one with a lower offset is deferred."""
        if self.deferred is None or error.offset < self.deferred.offset:
            self.deferred = error
