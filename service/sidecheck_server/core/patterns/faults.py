"""Why a pattern was not compiled: the fault, the place and the remedy.

Every message is our own text. What a library says of a pattern never gets out,
and what a message quotes from the pattern is cut and printable, so it can be
logged and sent.
"""

from enum import StrEnum

__all__ = ["PatternFault", "PatternRefused", "quote"]

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


class PatternRefused(ValueError):
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
    def at(cls, offset: int, fault: PatternFault, wrong: str, remedy: str) -> "PatternRefused":
        """Return the refusal that says what is wrong at *offset*, and what would be right."""
        return cls(fault, f"at offset {offset}: {wrong}; {remedy}", offset)


def quote(text: str) -> str:
    """Return *text* in backquotes, cut to 40 characters, the unprintable ones as U+XXXX."""
    cut = text if len(text) <= QUOTED_AT_MOST else text[:QUOTED_AT_MOST] + "…"
    return "`" + "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in cut) + "`"
