"""A place in a pattern: what every reader of a part of it moves along."""

import re

from sidecheck_server.core.patterns.faults import PatternRefused

__all__ = ["Cursor"]


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
        self.deferred: PatternRefused | None = None

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

    def defer(self, refusal: PatternRefused) -> None:
        """Keep *refusal* for the end of the pattern, unless one that stands before it is kept."""
        if self.deferred is None or refusal.offset < self.deferred.offset:
            self.deferred = refusal
