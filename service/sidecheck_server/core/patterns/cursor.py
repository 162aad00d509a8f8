"""A place in a pattern: what every reader of a part of it moves along."""

import re
from enum import StrEnum

__all__ = ["Cursor", "PatternError", "PatternFault", "quote"]

QUOTED_AT_MOST = 40


class PatternFault(StrEnum):
    """The kinds of reason for which a pattern is refused."""

    #: Not a pattern of ECMA-262 with the `u` flag (section 22.2.1), leniency included.
    SYNTAX = "syntax"
    #: A pattern of ECMA-262 that the linear-time engine cannot decide: it needs
    #: look-around or a back-reference.
    NOT_LINEAR = "not_linear"
    #: A pattern over a bound: length, nesting, repetition, automata or memory.
    TOO_LARGE = "too_large"


class PatternError(ValueError):
    """A pattern cannot be compiled; `fault`, `message` and `offset` say why and where.

    The offset counts characters from the start of the pattern.
    """

    def __init__(self, fault: PatternFault, message: str, offset: int) -> None:
        # All three go to `args`, so that the refusal survives the way out of a worker process.
        super().__init__(fault, message, offset)
        self.fault = fault
        self.message = message
        self.offset = offset

    def __str__(self) -> str:
        return self.message

    @classmethod
    def at(cls, offset: int, fault: PatternFault, wrong: str, remedy: str) -> "PatternError":
        """Return the refusal that says what is wrong at *offset*, and what would be right."""
        return cls(fault, f"at offset {offset}: {wrong}; {remedy}", offset)


def quote(text: str) -> str:
    """Return *text* in backquotes, cut to 40 characters, the unprintable ones as U+XXXX."""
    cut = text if len(text) <= QUOTED_AT_MOST else text[:QUOTED_AT_MOST] + "…"
    return "`" + "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in cut) + "`"


class Cursor:
    """A pattern and the offset up to which it has been read.

    A pattern can be ECMA-262 and yet not compile here. Such a finding is
    deferred, since an error of syntax further on outweighs it: the pattern is
    then not ECMA-262 at all. `deferred` keeps the one that stands first.
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
        """Return the next character and pass it; the empty string at the end."""
        character = self.peek()
        self.offset += len(character)
        return character

    def accept(self, literal: str) -> bool:
        """Pass *literal* if it comes next, and say whether it did."""
        if not self.source.startswith(literal, self.offset):
            return False
        self.offset += len(literal)
        return True

    def match(self, lexeme: re.Pattern[str]) -> re.Match[str] | None:
        """Pass *lexeme* if it comes next, and return what was found."""
        found = lexeme.match(self.source, self.offset)
        if found:
            self.offset = found.end()
        return found

    def defer(self, refusal: PatternError) -> None:
        """Keep *refusal* for the end of the pattern, unless one that stands before it is kept."""
        if self.deferred is None or refusal.offset < self.deferred.offset:
            self.deferred = refusal
