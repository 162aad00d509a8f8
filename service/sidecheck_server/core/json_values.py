"""Arithmetic on JSON numbers as they are written, in base ten."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.types import Draft, JsonValue

__all__ = [
    "CLASS_OF_TYPE",
    "all_unique",
    "find_duplicate",
    "has_type",
    "is_multiple",
    "is_number",
    "json_equal",
    "number_text",
]

# In steps: a division of decimals, a double far from one; and how many bits for a step.
_DIVISION = 40
_LARGE = 300
_BITS = 16


def is_multiple(value: float, divisor: float, budget: Budget) -> bool:
    """Return whether *value* is a whole multiple of *divisor*, exactly.

    A double stands for the shortest decimal text that names it, so that 4.35 is a
    multiple of 0.01, which no binary division would find (JSON Schema 2020-12
    validation, section 6.2.1). Both numbers must be finite.

    Raises:
        Exhausted: *budget* has too few steps.
        ZeroDivisionError: *divisor* is zero.
    """
    spend(budget, _DIVISION + sum(map(_digits_steps, (value, divisor))))
    if isinstance(value, int) and isinstance(divisor, int):
        return value % divisor == 0
    numerator, denominator = _ratio(value)
    over, under = _ratio(divisor)
    return numerator * under % (denominator * over) == 0


def _digits_steps(number: float) -> int:
    # A double is a ratio of up to 300 digits if its exponent is large.
    if isinstance(number, int):
        return number.bit_length() // _BITS
    return 0 if 1e-12 < abs(number) < 1e15 or not number else _LARGE


def _ratio(number: float) -> tuple[int, int]:
    if isinstance(number, int):
        return number, 1
    # At most about 620 digits in all: the exponent of a double is bounded.
    return Decimal(repr(number)).as_integer_ratio()


# In steps: hashing a string, writing down any value, and how many characters for one.
_STRING = 3
_SPELLED = 20
_CHARACTERS = 64


def json_equal(one: JsonValue, two: JsonValue) -> bool:
    """Return whether *one* and *two* are the same JSON value.

    Integers and doubles are compared exactly, beyond 2^53 too. The nesting of at
    least one of the two must be bounded.
    """
    if isinstance(one, dict):
        if not isinstance(two, dict) or len(one) != len(two):
            return False
        for name, member in one.items():
            if name not in two or not json_equal(member, two[name]):
                return False
        return True
    if isinstance(one, list):
        if not isinstance(two, list) or len(one) != len(two):
            return False
        return all(map(json_equal, one, two))
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    return one == two


def all_unique(items: Sequence[JsonValue], budget: Budget) -> bool:
    """Return whether no two of *items* are equal, in time linear in their size.

    Raises:
        Exhausted: the budget has too few steps for that.
    """
    return find_duplicate(items, budget) is None


def find_duplicate(items: Sequence[JsonValue], budget: Budget) -> tuple[int, int] | None:
    """Return the positions of the first item that repeats an earlier one, earlier one first.

    Raises:
        Exhausted: the budget has too few steps for that.
    """
    if all(item.__class__ is str for item in items):
        spend(budget, _STRING * len(items))
        if len(set(items)) == len(items):
            return None
    seen: dict[str, int] = {}
    for index, item in enumerate(items):
        parts: list[str] = []
        _spell(item, parts.append, budget)
        earlier = seen.setdefault("".join(parts), index)
        if earlier != index:
            return earlier, index
    return None


def number_text(number: float) -> str:
    """Return a text that two JSON numbers share exactly if they are equal."""
    if isinstance(number, int):
        return f"{number:x}"
    # A double without a fraction may equal an integer; any other cannot.
    return f"{int(number):x}" if number.is_integer() else f"{number!r}"


def _spell(value: JsonValue, put: Callable[[str], None], budget: Budget) -> None:
    """Write a text that two values share exactly if they are equal.

    Texts are what is hashed because CPython hashes them with a secret key. The
    hashes of numbers, and of tuples of them, are known: multiples of 2^61 - 1 all
    collide, and twenty thousand of them keep a set busy for seconds.
    """
    spend(budget, _SPELLED)
    if isinstance(value, str):
        spend(budget, len(value) // _CHARACTERS)
        put(f'{len(value)}"{value}')
    elif value is None or isinstance(value, bool):
        put(f"{value};")
    elif isinstance(value, int | float):
        put(f"{number_text(value)};")
    elif isinstance(value, list):
        put(f"[{len(value)};")
        for item in value:
            _spell(item, put, budget)
    else:
        put(f"{{{len(value)};")
        for name in sorted(value):
            put(f'{len(name)}"{name}')
            _spell(value[name], put, budget)


CLASS_OF_TYPE: dict[str, type] = {
    "array": list,
    "boolean": bool,
    "null": type(None),
    "object": dict,
    "string": str,
}
"""The types that are one class each."""


def is_number(value: Any) -> bool:
    """Return whether *value* is a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def has_type(value: Any, name: str, draft: Draft) -> bool:
    """Return whether *value* is of the type *name*."""
    known = CLASS_OF_TYPE.get(name)
    if known is not None:
        return isinstance(value, known)
    if name == "number":
        return is_number(value)
    if name != "integer" or isinstance(value, bool):
        return False
    if isinstance(value, int):
        return True
    # Since draft 6 a number without a fraction is an integer however it is written
    # (draft-06 validation, section 6.25).
    return isinstance(value, float) and value.is_integer() and draft is not Draft.DRAFT_04
