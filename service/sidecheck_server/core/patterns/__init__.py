"""Regular expressions of ECMA-262, matched in linear time unless the caller allows more.

`compile_pattern` compiles the value of `pattern`, or a key of `patternProperties`, to a
`Pattern`, or raises `PatternError`. Patterns are translated to RE2, which never
backtracks, so no text can make it slow. Patterns that RE2 cannot express are never
approximated: they are rejected, or, if backtracking is allowed, run by an engine whose
time has no bound. `needs_backtracking` identifies those patterns without compiling.
"""

from sidecheck_server.core.patterns.cursor import PatternError, PatternFault
from sidecheck_server.core.patterns.pattern import (
    UNBOUNDED,
    Pattern,
    compile_pattern,
    needs_backtracking,
)

__all__ = [
    "UNBOUNDED",
    "Pattern",
    "PatternError",
    "PatternFault",
    "compile_pattern",
    "needs_backtracking",
]
