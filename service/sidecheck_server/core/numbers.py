"""Arithmetic on JSON numbers as they are written, in base ten."""

from decimal import Decimal

from sidecheck_server.core.budget import Budget, spend

__all__ = ["is_multiple"]

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
