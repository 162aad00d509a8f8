"""The fast engine: generated code that decides whether a payload is valid."""

import marshal
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any

from sidecheck_server.core.engines.allowed_code import RUNTIME_NAMES
from sidecheck_server.core.engines.text_checks import TextChecks, build_format_check
from sidecheck_server.core.json_values import all_unique, is_multiple, json_equal, number_text
from sidecheck_server.core.limits import Budget, Exhausted, Limits
from sidecheck_server.core.types import JsonValue

__all__ = ["FastCode", "FastEngine"]


class _Invalid(Exception):
    """The payload, or the branch being tried, is not valid."""


_RUNTIME: dict[str, Any] = {
    "Exhausted": Exhausted,
    "Invalid": _Invalid,
    # Code of fastjsonschema catches failed branches by these names.
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
    """Compiled code of the fast engine, in a form that can be pickled."""

    #: A marshalled code object, valid only for the same release of CPython.
    code: bytes
    #: The patterns, which the code names P0, P1…
    patterns: tuple[str, ...]
    #: The names of the formats, which the code names F0, F1…
    formats: tuple[str, ...]
    #: The constants, which the code names C0, C1…
    constants: tuple[JsonValue, ...]
    #: Whether its functions take and charge a budget.
    counted: bool


class FastEngine:
    """Decides whether payloads are valid against one schema.

    It uses the patterns of *checks*, which other engines may share.
    """

    __slots__ = ("_counted", "_run", "_steps")

    def __init__(
        self, code: FastCode, dialect: str, limits: Limits, checks: TextChecks | None = None
    ) -> None:
        checks = checks or TextChecks(limits, assert_formats=False)
        # Generated code can call no other builtins. All schemas share the mapping, because
        # there may be a hundred thousand schemas.
        names: dict[str, Any] = {"__builtins__": _RUNTIME}
        for number, source in enumerate(code.patterns):
            names[f"P{number}"] = checks.pattern_check(source)
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
        """Return whether *payload* is valid; never change it.

        *budget* bounds the work; the default is the limit of steps.

        Raises:
            Exhausted: *budget* has too few steps.
            RecursionError: payload and schema nest too deeply for the interpreter's stack.
        """
        try:
            if self._counted:
                self._run(payload, [self._steps] if budget is None else budget)
            else:
                self._run(payload)
        except _Invalid:
            return False
        return True
