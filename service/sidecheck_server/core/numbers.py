"""Arithmetic on JSON numbers as they are written, in base ten."""

from decimal import Decimal

__all__ = ["is_multiple"]


def is_multiple(value: float, divisor: float) -> bool:
    """Return whether *value* is a whole multiple of *divisor*, exactly.

    A double stands for the shortest decimal text that names it, so that 4.35 is a
    multiple of 0.01, which no binary division would find (JSON Schema 2020-12
    validation, section 6.2.1). Both numbers must be finite.

    Raises:
        ZeroDivisionError: *divisor* is zero.
    """
    if isinstance(value, int) and isinstance(divisor, int):
        return value % divisor == 0
    numerator, denominator = _ratio(value)
    over, under = _ratio(divisor)
    return numerator * under % (denominator * over) == 0


def _ratio(number: float) -> tuple[int, int]:
    if isinstance(number, int):
        return number, 1
    # At most about 620 digits in all: the exponent of a double is bounded.
    return Decimal(repr(number)).as_integer_ratio()
