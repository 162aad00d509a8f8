"""The fast engine: generated code that says yes or no."""

import marshal
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from sidecheck_server.core.budget import Budget, Exhausted
from sidecheck_server.core.engines.allowed_code import RUNTIME_NAMES
from sidecheck_server.core.engines.text_checks import build_format_check, build_pattern_check
from sidecheck_server.core.json_values import all_unique, is_multiple, json_equal, number_text
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.patterns import compile_pattern
from sidecheck_server.core.types import JsonValue

__all__ = ["FastCode", "FastEngine"]


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


@dataclass(frozen=True, slots=True)
class FastCode:
    """Code for the fast engine, in a form that can cross a process border."""

    #: A code object, marshalled: only for the same release of CPython.
    code: bytes
    #: What the names P0, P1… of the code stand for: sources of patterns.
    patterns: tuple[str, ...]
    #: What F0, F1… stand for: names of formats.
    formats: tuple[str, ...]
    #: What C0, C1… stand for.
    constants: tuple[JsonValue, ...]
    #: Whether its functions take a budget, and count it down.
    counted: bool


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
            names[f"P{number}"] = build_pattern_check(pattern)
        for number, name in enumerate(code.formats):
            names[f"F{number}"] = build_format_check(name, dialect)
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
