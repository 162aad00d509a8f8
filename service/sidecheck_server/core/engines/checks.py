"""The patterns and formats of a schema, made ready on first use."""

from sidecheck_server.core.budget import Budget
from sidecheck_server.core.engines.texts import TextCheck, counted_format, counted_pattern
from sidecheck_server.core.patterns import compile_pattern
from sidecheck_server.core.schemas.dialects import STANDARD, Dialect

__all__ = ["Checks"]


class Checks:
    """What judges strings: every pattern and every format, compiled once.

    *assert_formats* makes ``format`` an assertion in dialects that leave the choice,
    *allow_backtracking* runs patterns whose time nothing bounds.
    """

    def __init__(
        self, *, assert_formats: bool, pattern_length: int, allow_backtracking: bool
    ) -> None:
        self._pattern_length = pattern_length
        self._allow_backtracking = allow_backtracking
        self._assert_formats = assert_formats
        self._patterns: dict[str, TextCheck] = {}
        self._formats: dict[tuple[str, str], TextCheck] = {}

    def matches(self, pattern: str, text: str, budget: Budget) -> bool:
        """Return whether *pattern* matches anywhere in *text* (ECMA-262).

        Raises:
            Exhausted: the budget has too few steps.
            PatternRefused: the pattern cannot be compiled.
        """
        check = self._patterns.get(pattern)
        if check is None:
            check = self._patterns[pattern] = counted_pattern(
                compile_pattern(
                    pattern,
                    max_length=self._pattern_length,
                    backtracking=self._allow_backtracking,
                )
            )
        return check(text, budget)

    def conforms(self, text: str, name: str, dialect: Dialect, budget: Budget) -> bool:
        """Return whether *text* has the format *name*, so far as formats are asserted.

        Raises:
            Exhausted: the budget has too few steps.
        """
        if not (self._assert_formats or dialect.asserts_format):
            return True
        key = (name, STANDARD[dialect.draft].name)
        if key not in self._formats:
            self._formats[key] = counted_format(*key)
        return self._formats[key](text, budget)
