"""Patterns of ECMA-262, in linear time unless the caller allows more.

`compile_pattern` takes what JSON Schema's `pattern` and `patternProperties`
hold, and returns a `Pattern`, or raises `PatternRefused`. A pattern is
translated to RE2, which never backtracks, so no text can make it slow. What RE2
cannot decide is never approximated: it is refused, or, where backtracking is
allowed, run by an engine that may take for ever. `needs_backtracking` tells
which patterns those are before they are compiled.
"""

from sidecheck_server.core.patterns.faults import PatternFault, PatternRefused
from sidecheck_server.core.patterns.pattern import (
    UNBOUNDED,
    Pattern,
    compile_pattern,
    needs_backtracking,
)

__all__ = [
    "UNBOUNDED",
    "Pattern",
    "PatternFault",
    "PatternRefused",
    "compile_pattern",
    "needs_backtracking",
]
