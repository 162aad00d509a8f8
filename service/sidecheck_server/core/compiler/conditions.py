"""Conditions: the tests of generated code, written as text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sidecheck_server.core.equality import number_text
from sidecheck_server.core.schemas.canonical import Constant

__all__ = ["BOUNDS", "KIND_OF_TYPE", "TYPE_TESTS", "display", "fits_types", "is_in", "is_one_of"]

_NUMBER = ("number", "integer", "int")
TYPE_TESTS = {
    "null": "{0} is None",
    "boolean": "{0} is True or {0} is False",
    "string": "isinstance({0}, str)",
    "array": "isinstance({0}, list)",
    "object": "isinstance({0}, dict)",
    "number": (
        "(isinstance({0}, float) or isinstance({0}, int) and {0} is not True and {0} is not False)"
    ),
    "integer": (
        "(isinstance({0}, int) and {0} is not True and {0} is not False"
        " or isinstance({0}, float) and {0}.is_integer())"
    ),
    "int": "(isinstance({0}, int) and {0} is not True and {0} is not False)",
}
KIND_OF_TYPE = {"string": "string", "array": "array", "object": "object"} | dict.fromkeys(
    _NUMBER, "number"
)
# The comparison that breaks each bound, and the values it applies to.
BOUNDS = {
    "minimum": ("number", "{0} < {1}"),
    "maximum": ("number", "{0} > {1}"),
    "exclusiveMinimum": ("number", "{0} <= {1}"),
    "exclusiveMaximum": ("number", "{0} >= {1}"),
    "minLength": ("string", "len({0}) < {1}"),
    "maxLength": ("string", "len({0}) > {1}"),
    "minItems": ("array", "len({0}) < {1}"),
    "maxItems": ("array", "len({0}) > {1}"),
    "minProperties": ("object", "len({0}) < {1}"),
    "maxProperties": ("object", "len({0}) > {1}"),
}


def fits_types(definition: Mapping[str, Any]) -> bool:
    """Return whether every value that ``enum`` lists is of one of the types beside it.

    Only if none is a number: 1.0 equals 1, and may be of another type.
    """
    names = {str: "string", bool: "boolean", type(None): "null"}
    types = definition["type"]
    return "enum" in definition and all(names.get(type(v)) in types for v in definition["enum"])


def is_in(variable: str, values: Sequence[Any], *, hashable: bool = False) -> str:
    """Write the test whether *variable*, which may be known as *hashable*, is one of *values*."""
    strings = [value for value in values if isinstance(value, str)]
    numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
    tests = [f"{variable} is {c}" for c in (None, True, False) if any(v is c for v in values)]
    if strings:
        test = f"{variable} in {display(strings)}"
        tests.append(test if hashable else f"isinstance({variable}, str) and {test}")
    if numbers:
        test = TYPE_TESTS["number"].format(variable)
        tests.append(f"{test} and {is_one_of(variable, numbers)}")
    tests += [
        f"json_equal({variable}, C{value.number})"
        for value in values
        if isinstance(value, Constant)
    ]
    return " or ".join(tests) or "False"


def is_one_of(variable: str, numbers: Sequence[float]) -> str:
    """Write the test whether a number is one of *numbers*."""
    if len(numbers) > 8:
        # As texts, which are hashed with a secret key: numbers can be made to collide.
        return f"number_text({variable}) in {display(list(map(number_text, numbers)))}"
    return f"({' or '.join(f'{variable} == {number!r}' for number in numbers)})"


def display(values: Iterable[Any]) -> str:
    """Write the set of *values*, each once."""
    return f"{{{', '.join(map(repr, dict.fromkeys(values)))}}}"
