"""Regular expressions of ECMA-262, matched in linear time by default.

`compile_pattern` compiles the value of `pattern`, or a key of `patternProperties`, to a
`Pattern`, or raises `PatternError`. Patterns are translated to RE2, which never backtracks,
so that matching is always linear in the text. Patterns that RE2 cannot express are never
approximated: they are rejected, or, if the limits allow backtracking, run by an engine
without a time bound. `needs_backtracking` identifies such patterns without compiling.
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
