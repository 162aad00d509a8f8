"""JSON numbers with their exact decimal value.

JSON Schema compares numbers by their mathematical value (2020-12 core, section 4.2.2), and JSON
text is decimal. A double represents the shortest decimal that rounds to it. A number with a
fraction or an exponent is read as a double if that decimal equals the number and its magnitude
is below 2^53, where every integer is still a double; otherwise as an `ExactNumber`.
"""
# Decision 0005: values compare and are digested by their decimal value.

from decimal import Decimal
from typing import Any, NamedTuple

__all__ = [
    "MOST_DIGITS",
    "ExactNumber",
    "NumberTooLongError",
    "Parts",
    "parts_of",
    "read_number",
]

MOST_DIGITS = 4300
"""Most digits of a number written without exponent, before and after the decimal point.

This is CPython's limit for integers (sys.int_info.default_max_str_digits): the time of a
conversion grows with the square of the length. RFC 8259, section 6, allows such limits.
"""

_ALL_INTEGERS = 2.0**53
"""Up to 2^53 every integer is a double, so binary and decimal comparisons agree."""

# Texts up to this length have at most 15 significant digits, which doubles preserve.
_SHORT = 16
_SMALLEST = 1e-290
"""Bound above zero and the subnormal doubles, which have less precision."""

_LONGEST_EXPONENT = 10
"""Longest exponent that is read, in digits without leading zeros."""


class NumberTooLongError(ValueError):
    """A number has more than `MOST_DIGITS` digits."""


class Parts(NamedTuple):
    """A decimal number: sign, digits without outer zeros, and power of ten."""

    sign: str
    digits: str
    exponent: int


class ExactNumber(float):
    """A number that no double represents; it compares by its decimal value.

    As a float, it has the value of the nearest double, or infinity.
    """

    __slots__ = ("_decimal", "text")

    def __new__(cls, text: str) -> "ExactNumber":
        """Create the number from its JSON *text*."""
        number = super().__new__(cls, text)
        number.text = text
        number._decimal = None
        return number

    text: str
    _decimal: Decimal | None

    @property
    def decimal(self) -> Decimal:
        """The exact value; its memory is proportional to the length of the text."""
        if self._decimal is None:
            self._decimal = Decimal(self.text)
        return self._decimal

    def is_integer(self) -> bool:
        """Return whether it has no fraction, as 1e23 and 1152921504606846976.0 do."""
        return parts_of(self).exponent >= 0

    def __int__(self) -> int:
        return int(self.decimal)

    def __eq__(self, other: object) -> bool:
        return bool(self.decimal == _decimal_of(other))

    def __ne__(self, other: object) -> bool:
        return bool(self.decimal != _decimal_of(other))

    def __lt__(self, other: float) -> bool:
        return bool(self.decimal < _decimal_of(other))

    def __le__(self, other: float) -> bool:
        return bool(self.decimal <= _decimal_of(other))

    def __gt__(self, other: float) -> bool:
        return bool(self.decimal > _decimal_of(other))

    def __ge__(self, other: float) -> bool:
        return bool(self.decimal >= _decimal_of(other))

    def __bool__(self) -> bool:
        return True  # Zero is always read as a double.

    def __hash__(self) -> int:
        return hash(self.decimal)

    def __repr__(self) -> str:
        return self.text

    def __reduce__(self) -> tuple[Any, ...]:
        return ExactNumber, (self.text,)


def _decimal_of(value: Any) -> Any:
    if isinstance(value, ExactNumber):
        return value.decimal
    return Decimal(repr(value)) if isinstance(value, float) else value


def read_number(text: str) -> float:
    """Return the value of *text*, a JSON number with a fraction or an exponent.

    Raises:
        NumberTooLongError: it has more than `MOST_DIGITS` digits.
    """
    double = float(text)
    if len(text) <= _SHORT and _SMALLEST < abs(double) < _ALL_INTEGERS:
        return double
    if abs(double) < _ALL_INTEGERS and repr(double) == text:
        return double
    parts = _split(text)
    if not parts.digits:
        return double
    if abs(double) < _ALL_INTEGERS and parts == _split(repr(double)):
        return double
    _check_length(parts)
    return ExactNumber(text)


def parts_of(number: float) -> Parts:
    """Return the decimal parts of *number*, which must be finite."""
    return _split(number.text if isinstance(number, ExactNumber) else repr(number))


def _split(text: str) -> Parts:
    mantissa, _, power = text.replace("E", "e").partition("e")
    sign = "-" if mantissa[0] == "-" else ""
    whole, _, fraction = mantissa.removeprefix("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return Parts("", "", 0)
    magnitude = power.lstrip("+-0")
    if len(magnitude) > _LONGEST_EXPONENT:
        raise NumberTooLongError
    shift = int(magnitude or 0) * (-1 if power.startswith("-") else 1)
    stripped = digits.rstrip("0")
    exponent = shift - len(fraction) + len(digits) - len(stripped)
    return Parts(sign, stripped, exponent)


def _check_length(parts: Parts) -> None:
    before_point = max(len(parts.digits) + parts.exponent, 1)
    if before_point + max(-parts.exponent, 0) > MOST_DIGITS:
        raise NumberTooLongError
