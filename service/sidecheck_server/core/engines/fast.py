"""The fast engine: generated code that says yes or no."""

import marshal
from collections.abc import Callable
from types import CodeType
from typing import Any

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.compiler.generation import FastCode
from sidecheck_server.core.engines.allowed_code import RUNTIME_NAMES
from sidecheck_server.core.engines.texts import counted_format, counted_pattern
from sidecheck_server.core.equality import all_unique, json_equal, number_text
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.numbers import is_multiple
from sidecheck_server.core.patterns import compile_pattern
from sidecheck_server.core.types import JsonValue

__all__ = ["FastEngine"]


class _Invalid(Exception):
    """The payload, or the branch being tried, is not valid."""


_RUNTIME: dict[str, Any] = {
    "Exhausted": Exhausted,
    "Invalid": _Invalid,
    # The names under which fastjsonschema's frame catches a failed branch.
    "JsonSchemaValueException": _Invalid,
    "JsonSchemaValuesException": _Invalid,
    "all_unique": all_unique,
    "is_multiple": is_multiple,
    "json_equal": json_equal,
    "number_text": number_text,
    **{kind.__name__: kind for kind in (dict, float, int, list, str)},
    "isinstance": isinstance,
    "len": len,
}
assert frozenset(_RUNTIME) == RUNTIME_NAMES


class FastEngine:
    """Says whether payloads are valid under one schema."""

    __slots__ = ("_counted", "_run", "_steps")

    def __init__(self, code: FastCode, dialect: str, limits: Limits) -> None:
        # Nothing is built in but what generated code may call; one mapping serves all,
        # which saves each of a hundred thousand schemas one of its own.
        names: dict[str, Any] = {"__builtins__": _RUNTIME}
        for number, source in enumerate(code.patterns):
            pattern = compile_pattern(
                source,
                max_length=limits.pattern_length,
                backtracking=limits.allow_backtracking,
            )
            names[f"P{number}"] = counted_pattern(pattern)
        for number, name in enumerate(code.formats):
            names[f"F{number}"] = counted_format(name, dialect)
        for number, value in enumerate(code.constants):
            names[f"C{number}"] = value
        body: CodeType = marshal.loads(code.code)  # noqa: S302  (our own worker wrote it)
        exec(body, names)  # noqa: S102  (its AST was checked where it was generated)
        self._run: Callable[..., None] = names["d0"]
        self._counted = code.counted
        self._steps = limits.steps

    def is_valid(self, payload: JsonValue, budget: Budget | None = None) -> bool:
        """Return whether *payload* is valid; it is not changed.

        *budget*, or the limit of steps if there is none, bounds the work.

        Raises:
            Exhausted: the budget has too few steps.
            RecursionError: subschemas and payload together nest too deep for the
                interpreter.
        """
        try:
            if self._counted:
                self._run(payload, [self._steps] if budget is None else budget)
            else:
                self._run(payload)
        except _Invalid:
            return False
        return True
