"""JSON equality: when two values are the same, and when all items of an array differ.

Numbers are equal by value, so 1 and 1.0 are; a boolean is never equal to a number;
members of objects have no order (JSON Schema 2020-12 core, section 4.2.2).
"""

from collections.abc import Callable, Sequence

from sidecheck_server.core.budget import Budget, spend
from sidecheck_server.core.types import JsonValue

__all__ = ["all_unique", "first_repeated", "json_equal", "number_text"]

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
    return first_repeated(items, budget) is None


def first_repeated(items: Sequence[JsonValue], budget: Budget) -> tuple[int, int] | None:
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
