"""Budgets: how much work one evaluation may take, counted in steps.

A step is about the work of one comparison in generated code: 25 nanoseconds, and at
most 100. All work that a payload or a schema can repeat is charged before it is done:
loops by the size of their body, patterns by program and text, comparisons of constants
by their size. So the same bytes take the same number of steps on every machine.
"""

from typing import TypeAlias

__all__ = ["LONGEST_SEARCH", "Budget", "Exhausted", "spend"]

LONGEST_SEARCH = 300_000
"""The most steps charged for one search of a pattern.

Most searches are fifty times faster than the worst case. This is more than the event
loop's budget, and a worker that searches for too long is killed.
"""

#: The steps that are left: the one item of a list, so that generated code can count
#: it down in place.
Budget: TypeAlias = list[int]


class Exhausted(Exception):
    """The budget is spent. Only the code that made the budget may catch it."""


def spend(budget: Budget, steps: int) -> None:
    """Subtract *steps* from *budget*.

    Raises:
        Exhausted: *budget* has fewer steps left.
    """
    budget[0] -= steps
    if budget[0] < 0:
        raise Exhausted
