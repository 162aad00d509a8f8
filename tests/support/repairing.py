"""Budget and exceptions for tests of repairs."""

from sidecheck_server.core.limits import Budget, Exhausted, Limits

__all__ = ["STOPPED", "budget"]

STOPPED = (Exhausted, RecursionError)
"""The exceptions of a repair that exceeds its budget or the stack."""


def budget(steps: int = Limits().steps) -> Budget:
    """Return a budget for one repair."""
    return [steps]
