"""Patterns: which regular expressions an API takes."""

import re
import warnings

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.convert.apis.api import Patterns

__all__ = ["is_taken"]

# What is not regular, outside of classes and of escaped characters.
_IRREGULAR = re.compile(
    r"(?P<found>\\[1-9bB]|\\k<|\(\?<?[=!])|\\.|\[(?:\\.|[^\]\\])*+\]", re.DOTALL
)

_PATTERN = 4_000
"""Steps of compiling a pattern with Python, for each that stands in a schema."""
_CHARACTER = 80
"""Steps of each character of it: parentheses, counts and classes take some 2 us."""
_WIDE_CLASS = 80_000
"""Steps of compiling a class of characters beyond Latin-1: some 2 ms."""


def is_taken(pattern: str, patterns: Patterns, budget: Budget) -> bool:
    """Return whether *pattern* is one of *patterns*.

    Raises:
        Exhausted: the budget is spent.
    """
    wide = not pattern.isascii() or "\\u" in pattern
    spend(
        budget,
        _PATTERN + _CHARACTER * len(pattern) + (_WIDE_CLASS * pattern.count("[") if wide else 0),
    )
    if patterns is Patterns.REGULAR and _is_irregular(pattern):
        return False
    # Flags are not in ECMA-262 2018, and make Python look at every character of a class.
    return "(?i" not in pattern and _compiles(pattern)


def _is_irregular(pattern: str) -> bool:
    """Return whether *pattern* has look-around, back-references or word boundaries."""
    return any(part["found"] for part in _IRREGULAR.finditer(pattern))


def _compiles(pattern: str) -> bool:
    with warnings.catch_warnings():
        # What is odd to Python, such as "[[", is still taken.
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except (re.error, OverflowError, RecursionError):
            return False
    return True
