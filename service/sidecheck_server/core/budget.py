"""Budgets: how much work one judgement may take, counted in steps.

A step is about the work of one comparison in generated code: some twenty-five
nanoseconds, and of no work more than a hundred.
Whatever can be repeated by a payload or a schema is paid for before it is done: loops
by the size of their body, patterns by program and text, comparisons of constants by
their size. So the same bytes take the same number of steps on every machine.
"""

from typing import TypeAlias

__all__ = ["LONGEST_SEARCH", "Budget", "Exhausted", "spend"]

LONGEST_SEARCH = 300_000
"""The most steps that one search for a pattern takes.

Most searches are fifty times faster than the worst. So many steps are more than the
event loop has, and a worker that searches for too long is killed.
"""

#: The steps that are left: the one item of a list, so that generated code can count
#: it down where it stands.
Budget: TypeAlias = list[int]


class Exhausted(Exception):
    """The budget is spent; nobody but the judge may catch it."""


def spend(budget: Budget, steps: int) -> None:
    """Take *steps* from *budget*.

    Raises:
        Exhausted: it had fewer.
    """
    budget[0] -= steps
    if budget[0] < 0:
        raise Exhausted
