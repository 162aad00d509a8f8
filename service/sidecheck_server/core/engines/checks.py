"""The patterns and formats of a schema, made ready on first use."""

from collections.abc import Callable

from sidecheck_server.core.formats import format_checker
from sidecheck_server.core.patterns import Pattern, compile_pattern
from sidecheck_server.core.schemas.dialects import STANDARD, Dialect

__all__ = ["Checks"]


class Checks:
    """What judges strings: every pattern and every format, compiled once.

    *assert_formats* makes ``format`` an assertion in dialects that leave the choice.
    """

    def __init__(self, *, assert_formats: bool) -> None:
        self._assert_formats = assert_formats
        self._patterns: dict[str, Pattern] = {}
        self._formats: dict[tuple[str, str], Callable[[str], bool] | None] = {}

    def matches(self, pattern: str, text: str) -> bool:
        """Return whether *pattern* matches anywhere in *text* (ECMA-262).

        Raises:
            PatternRefused: the pattern cannot be compiled.
        """
        compiled = self._patterns.get(pattern)
        if compiled is None:
            compiled = self._patterns[pattern] = compile_pattern(pattern)
        return compiled.search(text)

    def conforms(self, text: str, name: str, dialect: Dialect) -> bool:
        """Return whether *text* has the format *name*, so far as formats are asserted."""
        if not (self._assert_formats or dialect.asserts_format):
            return True
        key = (name, STANDARD[dialect.draft].name)
        if key not in self._formats:
            self._formats[key] = format_checker(*key)
        checker = self._formats[key]
        return checker is None or checker(text)
