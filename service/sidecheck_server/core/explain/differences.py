"""The first difference of two values whose short forms are the same."""

from itertools import islice
from typing import Any

from sidecheck_server.core.explain.values import LONGEST, Values, format_literal, quote
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.types import as_pointer

__all__ = ["explain_difference"]

_MOST_COMPARED = 1000
"""How many properties or items of one object or array are compared."""
_DEEPEST = 8


def explain_difference(expected: Any, actual: Any, values: Values) -> str:
    """Return where *actual* first differs from *expected*, a part of a schema, and how.

    "" if no difference is found up to a depth and a width.
    """
    path: list[str | int] = []
    while len(path) < _DEEPEST:
        step = _find_step(expected, actual)
        if step is None:
            break
        path.append(step)
        if isinstance(expected, dict):
            if step not in actual:
                return f"expected {quote(str(step))}{_at(path[:-1])}, which is missing"
            if step not in expected:
                unknown = values.property_named(str(step))
                return f"expected no other properties{_at(path[:-1])}, found {unknown}"
        expected, actual = expected[step], actual[step]
    if isinstance(expected, str) and isinstance(actual, str) and expected != actual:
        return _explain_texts(expected, actual, path, values)
    shown, found = format_literal(expected), values.format(actual)
    return "" if shown == found else f"expected {shown}{_at(path)}, found {found}"


def _at(path: list[str | int]) -> str:
    return f" at {as_pointer(path)}" if path else ""


def _find_step(expected: Any, actual: Any) -> str | int | None:
    """Return the property or index at which two objects or arrays differ, or None."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        names = [*islice(expected, _MOST_COMPARED), *islice(actual, _MOST_COMPARED)]
        return next((name for name in names if _differ_at(name, expected, actual)), None)
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        pairs = enumerate(zip(expected, actual, strict=True))
        different = (index for index, pair in pairs if not json_equal(*pair))
        return next(islice(different, 1), None)
    return None


def _differ_at(name: str, expected: dict[str, Any], actual: dict[str, Any]) -> bool:
    if name not in expected or name not in actual:
        return True
    return not json_equal(expected[name], actual[name])


def _explain_texts(expected: str, actual: str, path: list[str | int], values: Values) -> str:
    """Return from which character on two long texts differ."""
    shorter = min(len(expected), len(actual))
    pairs = zip(expected, actual, strict=False)
    start = next((index for index, (left, right) in enumerate(pairs) if left != right), shorter)
    wanted = f"{quote(expected[start : start + LONGEST])} from character {start + 1} on"
    if start == len(expected):
        wanted = f"no more than {start} characters"
    found = "other text" if values.hidden else quote(actual[start : start + LONGEST])
    return f"expected {wanted}{_at(path)}, found {found}"
